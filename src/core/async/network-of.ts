/** The network of a client, by which limits are counted. */
import { isIPv4, isIPv6 } from 'node:net';

/** An IPv4 address, the first 64 bits of an IPv6 address (a single host chooses the others), or one name for any other text, which a client may have made up. */
export function networkOf(client: string): string {
  if (isIPv4(client)) return client;
  if (!isIPv6(client)) return '';
  const { hostname } = new URL(`http://[${client.replace(/%.*$/, '')}]`);
  const [start = '', end = ''] = hostname.slice(1, -1).split('::');
  const groups = [start, end].map((part) => (part === '' ? [] : part.split(':')));
  const zeros = hostname.includes('::') ? 8 - groups.flat().length : 0;
  const all = [...(groups[0] ?? []), ...Array.from({ length: zeros }, () => '0'), ...(groups[1] ?? [])];
  // An IPv4 address that is written as an IPv6 address keeps all its parts.
  return all.slice(0, 6).join() === '0,0,0,0,0,ffff' ? all.join(':') : all.slice(0, 4).join(':');
}
