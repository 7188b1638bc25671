import { defined } from '../../core/model/defined.ts';
import { cut } from '../../core/model/text.ts';
import { incidentOf, linesOf, skipsIncident } from '../incident.ts';
import { breakUp } from '../markup.ts';
import type { NotificationTarget } from '../message.ts';

/** The most characters of a title. The service documents no limit. */
const maxTitle = 512;

/**
 * An HTTP alert source of incident.io: https://api-docs.incident.io/tag/Alert-Events-V2. The URL is that of the source, https://api.incident.io/v2/alert_events/http/ID, and
 * the secret its token. An alert is resolved by its key.
 */
export const incidentIo: NotificationTarget = {
  id: 'incidentIo',
  via: 'http',
  skips: skipsIncident,
  build(content, delivery) {
    const { action, key, subject, message } = incidentOf(content, delivery);
    const { severity, button, links } = message;
    const event = {
      title: cut(breakUp(message.title), maxTitle),
      status: action === 'trigger' ? 'firing' : 'resolved',
      deduplication_key: key,
      ...(action === 'trigger' && {
        description: [...linesOf(message), ...links.map(({ text, url }) => `${text}: ${url}`)].join('\n'),
        ...(button && { source_url: button.url }),
        metadata: { severity, subject, ...defined({ cluster: delivery.cluster }) },
      }),
    };
    return {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${delivery.secret}` },
      body: JSON.stringify(event),
    };
  },
};
