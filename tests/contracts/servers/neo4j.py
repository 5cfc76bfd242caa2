"""Neo4j Community 5.26 LTS, put together by Maven from Maven Central, run by Java 17 or later. Kept once there."""

import secrets
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

from servers import Server, Unavailable, cache_folder, free_port

VERSION = "5.26.30"
PASSWORD = "trivium-contract-" + secrets.token_hex(4)
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>trivium.tests</groupId><artifactId>neo4j</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>
  <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>{0}</version></dependency>
  <dependency><groupId>org.neo4j.app</groupId><artifactId>neo4j-server</artifactId><version>{0}</version></dependency>
</dependencies></project>
"""
CONFIGURATION = """server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.usage_report.enabled=false
server.memory.pagecache.size=128m
"""
OPENED = ("java.nio", "java.io", "sun.nio.ch", "java.util.concurrent")


def start(folder: Path) -> Server:
    port = free_port()
    (folder / "conf").mkdir()
    (folder / "conf" / "neo4j.conf").write_text(CONFIGURATION.format(port=port))
    command = [_java(), "-Xms256m", "-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dfile.encoding=UTF-8"]
    command += [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED]
    command += ["-cp", f"{_jars()}/*", "org.neo4j.server.CommunityEntryPoint"]
    command += [f"--home-dir={folder}", f"--config-dir={folder / 'conf'}"]
    return Server(f"bolt://neo4j:{PASSWORD}@127.0.0.1:{port}", command, folder, _answers).start()


def _java() -> str:
    found = shutil.which("java")
    if not found:
        raise Unavailable("there is no java on the path")
    return found


def _jars() -> Path:
    folder = cache_folder("neo4j")
    jars = folder / f"lib-{VERSION}"
    if not jars.exists():
        maven = shutil.which("mvn")
        if not maven:
            raise Unavailable("there is no mvn on the path to fetch it with")
        (folder / "pom.xml").write_text(POM.format(VERSION))
        fresh = folder / "fetching"
        command = [maven, "-q", "-B", "-f", str(folder / "pom.xml"), "dependency:copy-dependencies"]
        command += ["-DincludeScope=runtime", f"-DoutputDirectory={fresh}"]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=900)
        except subprocess.SubprocessError as error:
            raise Unavailable(f"Maven Central cannot be reached: {error}") from error
        fresh.rename(jars)
    return jars


def _answers(url: str) -> None:
    """The first one in has to change the password."""
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError

    uri = f"bolt://127.0.0.1:{urlsplit(url).port}"
    try:
        with GraphDatabase.driver(uri, auth=("neo4j", PASSWORD), max_transaction_retry_time=0) as driver:
            driver.execute_query("RETURN 1")
    except AuthError:
        with GraphDatabase.driver(uri, auth=("neo4j", "neo4j")) as driver:
            change = "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $password"
            driver.execute_query(change, password=PASSWORD, database_="system")
        raise
