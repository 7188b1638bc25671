/** The hosts to which the NotificationTargets of namespaces may send messages. Pure. */

/** The hosts of public chats and services. Nothing inside a cluster has these names. */
const publicHosts = [
  'hooks.slack.com',
  'slack.com',
  'discord.com',
  'discordapp.com',
  'chat.googleapis.com',
  '*.webhook.office.com',
  '*.logic.azure.com',
  '*.api.powerplatform.com',
  'events.pagerduty.com',
  'events.eu.pagerduty.com',
  'api.opsgenie.com',
  'api.eu.opsgenie.com',
  'api.atlassian.com',
  'api.telegram.org',
  'api.incident.io',
];

/** The ports that a URL may omit. */
const defaultPorts: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80', 'smtps:': '465', 'smtp:': '587' };

/**
 * Whether an address may be used: its host is that of a public chat, or one of `hosts`: `chat.example.com`, `mail.example.com:2525`, `*.example.com`,
 * `http://chat.internal:8065`. An entry without a port is for the default port of the address. Plain http needs an entry with http:.
 */
export function isAllowedHost({ protocol, hostname, port }: URL, hosts: readonly string[]): boolean {
  const isPlain = protocol === 'http:';
  const actual = port === '' ? defaultPorts[protocol] : port;
  return [...(isPlain ? [] : publicHosts), ...hosts].some((entry) => {
    if (entry.startsWith('http://') !== isPlain) return false;
    const [, name = '', wanted = defaultPorts[protocol]] = /^(?:http:\/\/)?([^:]+)(?::(\d+))?$/.exec(entry) ?? [];
    if (wanted !== actual) return false;
    const host = hostname.toLowerCase();
    return name.startsWith('*.') ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name;
  });
}
