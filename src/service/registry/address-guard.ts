import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { PermanentError } from '../../core/model/errors.ts';
import { isForbiddenAddress, plainHost } from '../proxy/special-addresses.ts';

const privateAddresses = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10], // shared by carriers, and by clouds for nodes and pods
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['240.0.0.0', 4],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 96], // unspecified, loopback, and addresses of IPv4
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
] as const) {
  privateAddresses.addSubnet(network, prefix, 'ipv6');
}
/** Matches names that resolve only inside a private network. */
const privateName = /^[^.]+$|\.(?:local|localhost|internal|intranet|lan|corp|home\.arpa|svc)$/;

/** Whether a host can be reached only from inside a private network. `hostname`: a name or an IP address, as a URL or DNS has it. */
export function isPrivateAddress(hostname: string): boolean {
  const host = plainHost(hostname);
  const family = isIP(host);
  if (family === 0) return privateName.test(host);
  if (family === 4) return privateAddresses.check(host, 'ipv4');
  // NAT64 and 6to4 addresses count as private, because they may contain any IPv4 address.
  return privateAddresses.check(host, 'ipv6') || /^(?:64:ff9b::|2002:)/.test(host);
}

/** A DNS lookup for sockets that fails with PermanentError(RegistryRefused) if any address is forbidden. `onAddresses` gets the addresses of other names. */
export function guardedLookup(
  lookup: LookupFunction = systemLookup,
  onAddresses: (hostname: string, addresses: readonly string[]) => void = () => undefined,
): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error) return callback(error, address, family);
      const addresses = typeof address === 'string' ? [address] : address.map((entry) => entry.address);
      const bad = addresses.find(isForbiddenAddress);
      if (bad !== undefined) return callback(refusedAddress(`${hostname}, which is ${bad},`), '', 0);
      onAddresses(hostname, addresses);
      callback(null, address, family);
    });
  };
}

/** The error for a host that must not get requests. */
export function refusedAddress(host: string): PermanentError {
  return new PermanentError('RegistryRefused', `${host} is a link-local or metadata address, to which no requests are sent`);
}
