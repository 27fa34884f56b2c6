/** A host name that resolves to loopback addresses of the test's choice, for grpc-js and for WebSockets. */
import dns from 'node:dns';
import { onTestFinished, vi } from 'vitest';

export const ROUTER_NAME = 'router.test';

export function nameOnLoopback(...addresses: string[]) {
  const name = { addresses, lookups: 0 };
  const found = (host: string) => {
    if (host !== ROUTER_NAME)
      throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
    name.lookups += 1;
    return name.addresses.map((address) => ({ address, family: 4 }));
  };
  const byPromise = vi
    .spyOn(dns.promises, 'lookup')
    .mockImplementation((async (host: string) => found(host)) as never);
  const byCallback = vi.spyOn(dns, 'lookup').mockImplementation(((
    host: string,
    options: { readonly all?: boolean },
    done: (error: unknown, address?: unknown, family?: number) => void,
  ) => {
    try {
      const all = found(host);
      if (options.all === true) setImmediate(() => done(null, all));
      else setImmediate(() => done(null, all[0]?.address, 4));
    } catch (error) {
      setImmediate(() => done(error));
    }
  }) as never);
  onTestFinished(() => {
    byPromise.mockRestore();
    byCallback.mockRestore();
  });
  return name;
}
