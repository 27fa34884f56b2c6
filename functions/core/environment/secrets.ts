/** Secrets kept as lines of one text, read rarely and kept a while. */
import { errorName, type Log } from './environment.ts';

/** A new secret is taken this soon, and an old one is refused this soon. */
const FRESH_MS = 5 * 60_000;
/** During an outage old values stay valid this long, because GitLab does not repeat deliveries. */
const KEPT_MS = 60 * 60_000;
const RETRY_MS = 10_000;

/** Lines without the space around them; empty ones do not count. Calls at the same time read once. */
export function secretLines({
  load,
  clock,
  log,
}: {
  readonly load: () => Promise<string>;
  readonly clock: { monotonicMs(): number };
  readonly log: Log;
}): () => Promise<readonly string[]> {
  let known: { readonly lines: readonly string[]; readonly atMs: number } | undefined;
  let askAgainAtMs = Number.NEGATIVE_INFINITY;
  let reading: Promise<readonly string[]> | undefined;

  const read = async (): Promise<readonly string[]> => {
    try {
      const lines = linesOf(await load());
      known = { lines, atMs: clock.monotonicMs() };
      askAgainAtMs = known.atMs + FRESH_MS;
      return lines;
    } catch (error) {
      const nowMs = clock.monotonicMs();
      if (known === undefined || nowMs - known.atMs > KEPT_MS) throw error;
      log.error('secrets unreadable, the last ones go on', { error: errorName(error) });
      askAgainAtMs = nowMs + RETRY_MS;
      return known.lines;
    }
  };

  return async () => {
    if (known !== undefined && clock.monotonicMs() < askAgainAtMs) return known.lines;
    reading ??= read().finally(() => {
      reading = undefined;
    });
    return reading;
  };
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** A caller that is waited for has 10 s at most; a parameter takes some 30 ms. */
const TIMEOUT_MS = 2_000;

/** One parameter, decrypted. The client is loaded with the first call, not with every cold start. */
export async function ssmText(name: string): Promise<string> {
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
  const client = new SSMClient({});
  try {
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    const { Parameter } = await client.send(command, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
    if (Parameter?.Value === undefined) throw new Error(`parameter ${name} has no value`);
    return Parameter.Value;
  } finally {
    client.destroy();
  }
}

export const groupTokens =
  (path: string, log: Log) =>
  async (groupId: number): Promise<string | undefined> => {
    try {
      return (await ssmText(`${path}/${groupId}`)).trim();
    } catch (error) {
      log.warn("a group's token cannot be read", { groupId, error: errorName(error) });
      return undefined;
    }
  };
