/**
 * Loads a bundle the way Lambda's runtime does and calls its handler for each message of its parent:
 * `{id, event}` → `{id, result}` or `{id, error}`. `{id: 0}` comes first.
 */
const { handler } = await import(process.argv[2]);

process.on('message', async ({ id, event }) => {
  try {
    process.send({ id, result: await handler(event, {}) });
  } catch (error) {
    process.send({ id, error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) });
  }
});
process.send({ id: 0 });
