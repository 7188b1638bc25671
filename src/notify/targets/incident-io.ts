import { cut } from '../../core/model/text.ts';
import { incidentOf, skipsIncident } from '../incident.ts';
import { breakUp, formatFact, maxLengthOf, unlinked } from '../markup.ts';
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
    const { severity, facts, notes, button, links, code } = message;
    const most = maxLengthOf(message);
    const lines = [...facts, ...notes].map((fact) => `${fact.label}: ${formatFact(fact, unlinked, most)}`);
    const command = code === undefined ? [] : [`To approve: ${unlinked.name(code)}`];
    const event = {
      title: cut(breakUp(message.title), maxTitle),
      status: action === 'trigger' ? 'firing' : 'resolved',
      deduplication_key: key,
      ...(action === 'trigger' && {
        description: [...lines, ...command, ...links.map(({ text, url }) => `${text}: ${url}`)].join('\n'),
        ...(button && { source_url: button.url }),
        metadata: { severity, subject, ...(delivery.cluster !== undefined && { cluster: delivery.cluster }) },
      }),
    };
    return {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${delivery.secret}` },
      body: JSON.stringify(event),
    };
  },
};
