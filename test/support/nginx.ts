/**
 * Debian's `nginx` as a plain static server, with its files in a folder of its own.
 */
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { freePort } from "./freePort.ts"
import { pathOf } from "./programs.ts"
import { eventually } from "./waiting.ts"

const configuration = (root: string, folder: string, port: number) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  log_format requests '$request_uri $status $body_bytes_sent';
  access_log ${folder}/access.log requests;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  types { application/json json; }
  default_type application/octet-stream;
  gzip on;
  gzip_types application/json;
  server {
    listen 127.0.0.1:${port};
    location /museum/ { alias ${root}/; }
  }
}
`

/** Serves the folder below `/museum/` until the scope ends. */
export const startNginx = Effect.fnUntraced(function* (root: string) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "nginx-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
  )
  const port = yield* freePort
  writeFileSync(join(folder, "nginx.conf"), configuration(root, folder, port))
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(pathOf("nginx"), ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], {
        stdio: "ignore"
      })
      return { child, end: new Promise((resolve) => child.once("close", resolve)) }
    }),
    ({ child, end }) =>
      Effect.zipRight(
        Effect.sync(() => child.kill("SIGKILL")),
        Effect.promise(() => end)
      )
  )
  const url = `http://127.0.0.1:${port}/museum`
  yield* eventually(
    Effect.isSuccess(Effect.tryPromise(() => fetch(url).then((response) => response.arrayBuffer())))
  )
  return {
    url,
    /** Path, status and bytes of each request so far. */
    requests: Effect.sync(() => readFileSync(join(folder, "access.log"), "utf8").trim().split("\n"))
  }
})
