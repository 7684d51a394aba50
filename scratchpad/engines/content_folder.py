"""Shows the active version of a downloads folder: for TouchDesigner, and any other Python from 3.7 on.

    python3 scratchpad/engines/content_folder.py downloads exhibits/Objects.json
"""
import json
import os
import sys
import time


class ContentFolder:
    """Follows a downloads folder. `consumer_id` is a file name for this screen, the same at every start."""

    def __init__(self, downloads, consumer_id, renew_every=600):
        self.downloads = downloads
        self.lease = os.path.join(downloads, "acks", consumer_id + ".json")
        self.renew_every = renew_every
        self.shown = None
        self.problem = None
        self.acknowledged = 0

    def poll(self, show):
        """Calls show(version_id, folder) if another version is active. Call it every few seconds.

        If show raises, the version on the screen stays, and the next poll calls show again.
        """
        before = (self.shown, self.problem)
        try:
            with open(os.path.join(self.downloads, "manifest.json"), encoding="utf-8") as file:
                manifest = json.load(file)
            if manifest["versionId"] != self.shown:
                show(manifest["versionId"], os.path.join(self.downloads, *manifest["versionPath"].split("/")))
                self.shown = manifest["versionId"]
            self.problem = None
        except Exception as error:
            self.problem = "%s: %s" % (type(error).__name__, error)
            if self.problem != before[1]:
                print(self.problem, file=sys.stderr, flush=True)
        is_due = time.time() - self.acknowledged > self.renew_every
        if self.shown is not None and (is_due or before != (self.shown, self.problem)):
            self.acknowledge()

    def acknowledge(self):
        """Keeps the version on disk while it is shown, and reports a problem to the operator."""
        lease = {"versionId": self.shown}
        if self.problem is not None:
            lease["problem"] = self.problem[:200]
        try:
            os.makedirs(os.path.dirname(self.lease), exist_ok=True)
            with open(self.lease, "w", encoding="utf-8") as file:
                json.dump(lease, file)
            self.acknowledged = time.time()
        except OSError as error:
            print(error, file=sys.stderr, flush=True)


if __name__ == "__main__":

    def show(version_id, folder):
        with open(os.path.join(folder, sys.argv[2]), encoding="utf-8") as file:
            print("%s: %d records" % (version_id, len(json.load(file))), flush=True)

    content = ContentFolder(sys.argv[1], "screen-1")
    while True:
        content.poll(show)
        time.sleep(float(sys.argv[3]) if len(sys.argv) > 3 else 2)
