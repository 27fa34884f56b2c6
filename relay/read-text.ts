/** The answer's text; nothing if it is too long, whose rest is refused then. */
export async function readText(response: Response, bytesMax: number): Promise<string | undefined> {
  // Of a packed answer the length says nothing: `fetch` unpacks it on the way.
  const { headers } = response;
  const length = headers.has('content-encoding')
    ? Number.NaN
    : Number(headers.get('content-length') ?? Number.NaN);
  if (length <= bytesMax) return response.text();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the rest.
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, bytes).toString('utf8');
}
