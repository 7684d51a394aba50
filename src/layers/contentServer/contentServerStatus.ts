/**
 * The content server's part of the status.
 */
import { sizeText } from "../../internal/readable.ts"
import type { ContentServerStatistics } from "../../services/ContentServer.ts"
import type { Row } from "../../services/ControllerState.ts"

export interface ContentServerOverview {
  readonly address: string
  readonly maxConnections: number
  readonly statistics: ContentServerStatistics
}

export const statusRows = ({
  address,
  maxConnections,
  statistics: { bytes, connections, openResponses, requests }
}: ContentServerOverview): ReadonlyArray<Row> => [
  { type: "kv", label: "Address", value: address },
  {
    type: "kv",
    label: "Connections",
    value: `${connections} of ${maxConnections}`,
    tone: connections < maxConnections ? "ok" : "warn"
  },
  { type: "kv", label: "Responses", value: `${requests}, ${sizeText(bytes)}; ${openResponses} open` }
]
