import { cut } from '../../core/model/text.ts';
import { incidentOf, linesOf, skipsIncident } from '../incident.ts';
import { breakUp } from '../markup.ts';
import type { NotificationTarget } from '../message.ts';
import type { Severity } from '../../core/model/severity.ts';

/** The most characters of a message, as the Alert API documents it. */
const maxMessage = 130;
const priorities: Readonly<Record<Severity, string>> = { failure: 'P1', attention: 'P3', success: 'P5', info: 'P5' };

/**
 * An API integration of Opsgenie or Jira Service Management: https://docs.opsgenie.com/docs/alert-api. The secret is its API key. An alert is closed by its alias, at an
 * address below that of all alerts.
 */
export const opsgenie: NotificationTarget = {
  id: 'opsgenie',
  via: 'http',
  skips: skipsIncident,
  build(content, delivery) {
    const { action, key, subject, message } = incidentOf(content, delivery);
    const { severity, button, links } = message;
    const title = breakUp(message.title);
    const headers = { 'content-type': 'application/json', authorization: `GenieKey ${delivery.secret}` };
    const source = delivery.cluster ?? 'image-watcher';
    if (action === 'resolve')
      return { headers, path: `/${key}/close`, query: { identifierType: 'alias' }, body: JSON.stringify({ source, note: title }) };
    const pages = [...(button ? [button] : []), ...links].map(({ text, url }) => `${text}: ${url}`);
    const alert = {
      message: cut(title, maxMessage),
      alias: key,
      description: [title, ...linesOf(message), ...pages].join('\n'),
      entity: cut(subject, 512),
      source: cut(source, 100),
      priority: priorities[severity],
    };
    return { headers, body: JSON.stringify(alert) };
  },
};
