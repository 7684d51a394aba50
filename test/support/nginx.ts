/**
 * Debian's `nginx` as a plain static server, with its files in its own folder.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { freePort } from "./freePort.ts"
import { pathOf } from "./programs.ts"
import { eventually } from "./waiting.ts"

const configuration = (root: string, folder: string, port: number, locations: string) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  log_format requests '$request_uri $status $body_bytes_sent';
  access_log ${folder}/access.log requests;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  types { application/json json; image/jpeg jpg; text/html html; }
  default_type application/octet-stream;
  gzip on;
  gzip_types application/json;
  server {
    listen 127.0.0.1:${port};
    location /museum/ { alias ${root}/; }
    ${locations}
  }
}
`

/** Serves the folder below `/museum/`, and what else is said in the words of its configuration, until the scope ends. */
export const startNginx = Effect.fnUntraced(function* (root: string, locations = "") {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "nginx-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* freePort
  writeFileSync(join(folder, "nginx.conf"), configuration(root, folder, port, locations))
  const url = `http://127.0.0.1:${port}/museum`

  const start = Effect.tap(
    Effect.sync(() => {
      const child = spawn(pathOf("nginx"), ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
        stdio: "ignore"
      })
      return { child, end: new Promise((resolve) => child.once("close", resolve)) }
    }),
    () =>
      eventually(
        Effect.isSuccess(Effect.tryPromise(() => fetch(url).then((response) => response.arrayBuffer())))
      )
  )
  const stop = ({ child, end }: Effect.Effect.Success<typeof start>) =>
    Effect.zipRight(
      Effect.sync(() => child.kill("SIGKILL")),
      Effect.promise(() => end)
    )
  let running = yield* start
  yield* Effect.addFinalizer(() => stop(running))
  return {
    url,
    /** Ends it as a crash does, and starts it again when the effect is done. */
    crash: <A, E, R>(meanwhile: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        yield* stop(running)
        yield* meanwhile
        running = yield* start
      }),
    /** Path, status and bytes of each request so far. */
    requests: Effect.sync(() => readFileSync(join(folder, "access.log"), "utf8").trim().split("\n"))
  }
})
