import { BlockList, isIP } from 'node:net';

/** A request, as far as it says where it comes from. */
interface Arrival {
  /** The connection's address, which cannot be forged: Lambda's `sourceIp`. */
  readonly connection: string;
  /** `X-Forwarded-For`: each proxy adds the address it was called from at the right. */
  readonly forwardedFor: string | undefined;
}

/** Real proxy chains are shorter. */
const HOPS_MAX = 10;

/**
 * Returns the address that a request is counted for: the connection's own, or, behind one of our proxies,
 * the first address from the right that is not one. The visitor may have written the addresses left of it.
 *
 * @param proxies - addresses or ranges, each fits {@link isAddressRange}; none: headers are ignored.
 */
export function visitorAddress(proxies: readonly string[]): (arrival: Arrival) => string {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = familyOf(address);
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isProxy = (address: string): boolean =>
    isIP(address) !== 0 && trusted.check(address, familyOf(address));
  return ({ connection, forwardedFor = '' }) => {
    if (!isProxy(connection)) return connection;
    const hops = forwardedFor.split(',').map((hop) => hop.trim());
    const visitor = hops.slice(-HOPS_MAX).findLast((hop) => !isProxy(hop));
    // An invalid hop was forged: such requests share the proxy's count.
    return visitor !== undefined && isIP(visitor) !== 0 ? visitor : connection;
  };
}

/** `192.0.2.7`, `10.0.0.0/8`, `2600:9000::/28`. */
export function isAddressRange(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
