/**
 * The files in `deploy/`: what each system would start, and where.
 */
import { execFileSync } from "node:child_process"
import { posix, win32 } from "node:path"
import { read, repository } from "./documents.ts"
import { pathOf } from "./programs.ts"

/** What is started: a program by its path, its arguments, in a folder. */
export interface Started {
  readonly program: string
  readonly args: ReadonlyArray<string>
  readonly cwd: string
}

/** The settings of a unit of systemd, by name; of those that are there several times, all. */
export const unitSettings = (text: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const settings = new Map<string, Array<string>>()
  for (const [, name = "", value = ""] of text.matchAll(/^(\w+)=(.*)$/gm)) {
    settings.set(name, [...(settings.get(name) ?? []), value])
  }
  return settings
}

const words = (line: string): Pick<Started, "args" | "program"> => {
  const [program = "", ...args] = line.split(" ")
  return { program, args }
}

const bySystemd = (): Started => {
  const settings = unitSettings(read("deploy/systemd/vitrine.service"))
  return { ...words(settings.get("ExecStart")?.[0] ?? ""), cwd: settings.get("WorkingDirectory")?.[0] ?? "" }
}

/** What a program of Python makes of a file, as JSON. */
const python = (program: string, file: string) =>
  JSON.parse(execFileSync(pathOf("python3"), ["-c", program, `${repository}/${file}`], { encoding: "utf8" }))

const plist = "import json, plistlib, sys; print(json.dumps(plistlib.load(open(sys.argv[1], 'rb'))))"

const byLaunchd = (): Started => {
  const { ProgramArguments, WorkingDirectory } = python(plist, "deploy/macos/vitrine.plist")
  const [program, ...args] = ProgramArguments
  return { program, args, cwd: WorkingDirectory }
}

const leaves = `
import json, sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(json.dumps({element.tag.split("}")[1]: element.text for element in root.iter() if len(element) == 0}))
`

/** The texts of the elements of a task of Windows that have no others in them, by their names. */
export const taskSettings = (): Readonly<Record<string, string>> =>
  python(leaves, "deploy/windows/vitrine.xml")

const byWindows = (): Started => {
  const { Arguments = "", Command = "", WorkingDirectory = "" } = taskSettings()
  return { program: Command, args: Arguments.split(" "), cwd: WorkingDirectory }
}

/** As seen from the folder of the exhibit, with forward slashes. */
const relativeTo =
  ({ cwd }: Started) =>
  (path: string) => {
    const { isAbsolute, relative } = /^[A-Z]:/.test(cwd) ? win32 : posix
    return (isAbsolute(path) && path.startsWith(cwd) ? relative(cwd, path) : path).replaceAll("\\", "/")
  }

const inExhibit = (started: Started): Started => ({
  ...started,
  args: started.args.map(relativeTo(started))
})

/** By the system that starts it; paths in the folder of the exhibit are relative to it. */
export const startedBy = {
  systemd: () => inExhibit(bySystemd()),
  launchd: () => inExhibit(byLaunchd()),
  "the Task Scheduler": () => inExhibit(byWindows())
}
