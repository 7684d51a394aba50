/**
 * What a source of documents of one's own is made of: options, requests, documents, and `make`, which saves them.
 */

export { type Answer, RequestFailed, type RequestOptions } from "../httpClient/Requests.ts"
export { makeRequests, type Requests } from "./answers.ts"
export { type Document, type DocumentContent, DocumentNotSaved, Records, Value } from "./Document.ts"
export { type DocumentConfig as Config, DocumentOptions as Options, define } from "./DocumentOptions.ts"
export { type DocumentSource, type DocumentsError, makeDocumentSource as make } from "./makeDocumentSource.ts"
export { fileFieldsOfReader } from "./media/fileOptions.ts"
