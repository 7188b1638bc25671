import { incidentOf, skipsIncident } from '../incident.ts';
import { breakUp, formatFact, maxLengthOf, unlinked } from '../markup.ts';
import type { NotificationTarget } from '../message.ts';
import type { Severity } from '../../core/model/severity.ts';

const severities: Readonly<Record<Severity, string>> = { failure: 'critical', attention: 'warning', success: 'info', info: 'info' };

/** An integration of PagerDuty, with the Events API v2: https://developer.pagerduty.com/docs/send-alert-event. The secret is its routing key. */
export const pagerduty: NotificationTarget = {
  id: 'pagerduty',
  via: 'http',
  skips: skipsIncident,
  build(content, delivery) {
    const { action, key, subject, message, at } = incidentOf(content, delivery);
    const { severity, title, facts, notes, button, links, code } = message;
    const most = maxLengthOf(message);
    const details = [...facts, ...notes].map((fact) => [fact.label, formatFact(fact, unlinked, most)]);
    const payload = {
      // A title is shorter than the 1,024 characters that a summary may have.
      summary: breakUp(title),
      source: delivery.cluster ?? 'image-watcher',
      severity: severities[severity],
      timestamp: at,
      component: subject,
      custom_details: Object.fromEntries([...details, ...(code === undefined ? [] : [['To approve', unlinked.name(code)]])]) as object,
    };
    const event = {
      routing_key: delivery.secret,
      event_action: action,
      dedup_key: key,
      ...(action === 'trigger' && {
        payload,
        links: [...(button ? [button] : []), ...links].map(({ text, url }) => ({ text, href: url })),
      }),
    };
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(event) };
  },
};
