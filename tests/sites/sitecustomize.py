"""Python imports this by itself at its start: processes of tests run on the same server as the tests."""

import os

if os.environ.get("TRIVIUM_TEST_ON_POSTGRESQL"):
    import on_postgresql

    on_postgresql.patch()
