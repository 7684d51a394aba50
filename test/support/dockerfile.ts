/**
 * Follows a Dockerfile in a plain folder, which stands for the root of the image.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { read } from "./documents.ts"

export interface Image {
  /** The folder that its command starts in. */
  readonly cwd: string
  readonly command: ReadonlyArray<string>
  /** The user that its command runs as. */
  readonly uid: number
  readonly env: Readonly<Record<string, string>>
}

const shell = (script: string, cwd: string, ...args: ReadonlyArray<string>) =>
  void execFileSync("sh", ["-euc", script, "sh", ...args], { cwd, stdio: ["ignore", "pipe", "pipe"] })

/** Copies the contents of a folder, or files; names may have an asterisk. */
const copyTo = `to=$1; shift
for from in $*; do if [ -d "$from" ]; then cp -R "$from/." "$to"; else cp "$from" "$to"; fi; done`

/** Its steps, in order, with the files of the folder `context`; Node and the shell are those of this machine. */
export const buildImage = (file: string, context: string, root: string): Image => {
  let cwd = root
  let command: ReadonlyArray<string> = []
  let uid = 0
  const env: Record<string, string> = {}
  for (const [line, instruction, rest = ""] of read(file).matchAll(/^([A-Z]+) (.*)$/gm)) {
    switch (instruction) {
      case "WORKDIR":
        cwd = join(root, rest)
        mkdirSync(cwd, { recursive: true })
        break
      case "COPY": {
        const names = rest.split(" ")
        const target = join(cwd, names.pop() ?? "")
        mkdirSync(target, { recursive: true })
        shell(copyTo, context, target, ...names)
        break
      }
      case "RUN":
        shell(rest, cwd)
        break
      case "USER":
        uid = Number(rest)
        break
      case "ENV": {
        const [name = "", value = ""] = rest.split("=")
        env[name] = value
        break
      }
      case "CMD":
        command = JSON.parse(rest)
        break
      // What the image begins with, and what is for those who run it.
      case "FROM":
      case "EXPOSE":
      case "HEALTHCHECK":
      case "VOLUME":
        break
      default:
        throw new Error(`${file}: nobody knows how to follow this: ${line}`)
    }
  }
  return { cwd, command, uid, env }
}
