/** A caller that is waited for has 10 s at most; a parameter takes some 30 ms. */
const TIMEOUT_MS = 2_000;

/**
 * Reads one parameter, decrypted. The client is loaded with the first call, not with every cold start.
 *
 * @throws the client's own error, or an `Error` naming the parameter when it has no value.
 */
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
