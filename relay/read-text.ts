/** The answer's text; undefined if it is too long, and then the rest of it is refused. */
export async function readText(response: Response, bytesMax: number): Promise<string | undefined> {
  // The length says nothing of a packed answer: `fetch` unpacks it on the way.
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
