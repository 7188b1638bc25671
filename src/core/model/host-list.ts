/** Lists of hosts that an operator allows, for addresses that others write. */

/** The ports that a URL may omit. */
const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80', 'smtps:': '465', 'smtp:': '587' };

/**
 * Whether the host of an address is one of these: `chat.example.com`, `mail.example.com:2525`, `*.example.com`, `http://chat.internal:8065`. An entry without a
 * port is for the default port of the address. Plain http needs an entry with http:.
 */
export function isListedHost({ protocol, hostname, port }: URL, hosts: readonly string[]): boolean {
  const isPlain = protocol === 'http:';
  const actual = port === '' ? defaultPorts[protocol] : port;
  return hosts.some((entry) => {
    if (entry.startsWith('http://') !== isPlain) return false;
    const [, name = '', wanted = defaultPorts[protocol]] = /^(?:http:\/\/)?([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
    if (wanted !== actual) return false;
    const host = hostname.toLowerCase();
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name;
  });
}
