/** The hosts to which the NotificationTargets of namespaces may send messages. Pure. */
import { isListedHost } from '../core/model/host-list.ts';

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

/**
 * Whether an address may be used: its host is that of a public chat, or one of `hosts`: `chat.example.com`, `mail.example.com:2525`, `*.example.com`,
 * `http://chat.internal:8065`.
 */
export function isAllowedHost(url: URL, hosts: readonly string[]): boolean {
  return isListedHost(url, [...publicHosts, ...hosts]);
}
