/**
 * One run of each scenario of media: a static server with files, and the programs that download them.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { freePort } from "../freePort.ts"
import { start, startProgram } from "../processes.ts"
import type { Figures, Settings } from "../scenario.ts"
import { withFolder } from "../tables/folders.ts"
import type { BareApi, MediaApi } from "./protocol.ts"

export interface Served {
  readonly files: number
  /** Of each. */
  readonly bytes: number
}

const configuration = (folder: string, port: number) => `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
events {}
http {
  access_log off;
  ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ")}
  types { image/jpeg jpg; }
  keepalive_requests 1000000;
  server { listen 127.0.0.1:${port}; root ${folder}/files; }
}
`

/** Runs with a server of files whose dates are a day old. */
const withServer = async <A>(
  { bytes, files }: Served,
  run: (url: string, folder: string) => Promise<A>
): Promise<A> =>
  withFolder(async (folder) => {
    mkdirSync(join(folder, "files"))
    const yesterday = new Date(Date.now() - 86_400_000)
    for (let index = 0; index < files; index++) {
      const file = join(folder, "files", `${index}.jpg`)
      writeFileSync(file, Buffer.alloc(bytes, `\0picture ${index} `))
      utimesSync(file, yesterday, yesterday)
    }
    const port = await freePort()
    writeFileSync(join(folder, "nginx.conf"), configuration(folder, port))
    const nginx = startProgram("nginx", ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")])
    const url = `http://127.0.0.1:${port}`
    try {
      while (
        !(await fetch(`${url}/0.jpg`).then(
          (response) => response.arrayBuffer(),
          () => undefined
        ))
      ) {
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      return await run(url, folder)
    } finally {
      await nginx.stop()
    }
  })

/** The files by curl, six at a time. */
export const curl = (served: Served): Promise<Figures> =>
  withServer(served, async (url, folder) => {
    const list = Array.from({ length: served.files }, (_, index) => [
      `url = "${url}/${index}.jpg"`,
      `output = "${folder}/${index}.jpg"`
    ])
    writeFileSync(join(folder, "curl.txt"), list.flat().join("\n"))
    const begin = performance.now()
    const child = spawn("curl", ["-s", "--parallel", "--parallel-max", "6", "-K", join(folder, "curl.txt")])
    await once(child, "close")
    return { time: performance.now() - begin }
  })

/** One conditional request for each file, which all have the same size, date and tag. */
export const bare = (served: Served, { nodeArguments }: Settings): Promise<Figures> =>
  withServer(served, async (url) => {
    const tag = (await fetch(`${url}/0.jpg`, { method: "HEAD" })).headers.get("etag") ?? ""
    const program = start<BareApi>("./media/bare.js", nodeArguments)
    try {
      return { cpuAgain: await program.call("ask", { url, files: served.files, tag }) }
    } finally {
      await program.stop()
    }
  })

/** The files by a source with media, and once more with nothing changed. */
export const media = (served: Served, { nodeArguments }: Settings, proves: boolean): Promise<Figures> =>
  withServer(served, async (url, directory) => {
    const program = start<MediaApi>("./media/program.js", nodeArguments)
    try {
      const plan = { url, files: served.files, directory, proves }
      const first = await program.call("fetch", plan)
      const again = await program.call("fetch", plan)
      return {
        time: first.time,
        timeAgain: again.time,
        cpuAgain: again.cpu,
        shareAgain: again.time / first.time,
        downloadedAgain: served.files - again.reused,
        changedAgain: again.changed ? 1 : 0
      }
    } finally {
      await program.stop()
    }
  })

/** The links of documents, and reading and writing their JSON. */
export const find = (documents: number, { nodeArguments }: Settings): Promise<Figures> =>
  withFolder(async (directory) => {
    const program = start<MediaApi>("./media/program.js", nodeArguments)
    try {
      const { links, parsed, time } = await program.call("find", { documents, directory })
      return { time, links, parsed, ofParsing: time / parsed }
    } finally {
      await program.stop()
    }
  })
