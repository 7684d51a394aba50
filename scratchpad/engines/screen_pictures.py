"""Sends pictures of a screen to the controller, whichever program is on it. COMMAND writes a JPEG to its standard output.

    PICTURES_TOKEN=... python3 screen_pictures.py http://127.0.0.1:8730 left COMMAND [ARGUMENT ...]

Under X11, COMMAND is `import -window root -resize "1280x>" jpg:-` of ImageMagick; under Wayland, `grim -t jpeg -s 0.5 -`.
"""
import os
import subprocess
import sys
import time
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

origin, screen, *command = sys.argv[1:]


def ask(path, method="GET", body=None, **headers):
    """Gives the status and the headers of the response."""
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    names["Authorization"] = "Bearer " + os.environ["PICTURES_TOKEN"]
    try:
        with urlopen(Request(origin + "/vitrine/pictures/" + path, body, names, method=method), timeout=90) as answer:
            return answer.status, answer.headers
    except HTTPError as error:
        return error.code, error.headers


def take():
    """Gives the picture, or the reason in words why there is none."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=5)
    except subprocess.TimeoutExpired:
        return "text/plain; charset=utf-8", b"no picture within 5 seconds"
    except OSError as error:
        return "text/plain; charset=utf-8", str(error).encode()
    if len(done.stdout) > 1_048_576:
        return "text/plain; charset=utf-8", b"the picture is larger than 1 MiB"
    if done.returncode == 0 and done.stdout.startswith(b"\xff\xd8\xff"):
        return "image/jpeg", done.stdout
    return "text/plain; charset=utf-8", done.stderr.strip() or b"no picture from " + command[0].encode()


while True:
    status = None
    try:
        status, headers = ask("wanted?screen=" + quote(screen, safe=""))
        if status == 200:
            kind, body = take()
            ask(quote(screen, safe=""), "PUT", body, Content_Type=kind, Vitrine_Picture=headers["Vitrine-Picture"])
    except OSError as error:
        print(error, file=sys.stderr, flush=True)
    is_refused = status in (400, 401, 403, 404)
    if is_refused:
        print("The controller takes no pictures, or refuses the token, screen or host: %d" % status, file=sys.stderr, flush=True)
    time.sleep(300 if is_refused else 2)
