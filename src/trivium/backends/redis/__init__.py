"""What several processes and machines share through Redis: results, limits, conduct. All of it may vanish at any time:
then each process goes on by itself, and says so."""
