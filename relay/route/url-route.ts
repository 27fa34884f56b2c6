import type { Fetch } from '../admit-call.ts';
import { errorName } from '../aws/aws-error.ts';
import { RelayError } from '../relay-error.ts';

/**
 * Calls the admit function by its Function URL. The function itself never says 403: that is AWS, which refused the signature
 * or the right, so the function has not looked and a batch of unmetered answers must not be given up.
 *
 * @param fetch - signs for `lambda`.
 */
export function urlRoute(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 403) return response;
    await response.body?.cancel();
    const name = errorName(response.headers.get('x-amzn-errortype'));
    throw new RelayError(
      'admit_unreachable',
      `the Function URL refused the call: 403${name === undefined ? '' : ` ${name}`}; the role needs both lambda:InvokeFunctionUrl and lambda:InvokeFunction`,
    );
  };
}
