import * as Effect from "effect/Effect"
import { makeProject } from "./project.ts"

/** A project whose configuration is a replica of the address in `HUB`. */
export const replicaProject = Effect.gen(function* () {
  const project = yield* makeProject
  yield* project.write(
    "vitrine.config.ts",
    `import { defineConfig, replica } from "vitrine"
export default defineConfig({ plugins: [replica({ from: process.env.HUB ?? "", pollEvery: "1 second" })] })
`
  )
  return { ...project, downloads: `${project.folder}/downloads` }
})
