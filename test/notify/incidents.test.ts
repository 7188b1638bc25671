/** Incidents of PagerDuty, Opsgenie and incident.io: who is called, what ends the call, and at which address. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeKinds, type Notice, type NoticeKind } from '../../src/core/model/notice.ts';
import { publicUrls } from '../../src/core/model/notification-target.ts';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import { deliver } from '../../src/notify/deliver.ts';
import { effects } from '../../src/notify/incident.ts';
import type { Content } from '../../src/notify/message.ts';
import { severityOf } from '../../src/core/model/severity.ts';

const at = '2026-11-23T12:00:00Z';
const subject = { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' } as const;
const noticeOf = (kind: NoticeKind, more: Partial<Notice> = {}): Content => ({
  type: 'notice',
  notice: { kind, subject, at, tag: '1.4.2', workloads: ['Deployment shop/web'], reason: 'CrashLoop', ...more },
});

interface Sent {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json: Readonly<Record<string, unknown>>;
}

/** The requests that these contents become. */
async function send(
  kind: 'pagerduty' | 'opsgenie' | 'incidentIo',
  contents: readonly Content[],
  { url = publicUrls[kind] ?? '', cluster = 'prod-eu' } = {},
) {
  const sent: Sent[] = [];
  const target: ConfiguredTarget = {
    name: 'calls',
    kind,
    events: [],
    namespaces: [],
    insecure: false,
    url: () => url,
    secret: () => 'the-key',
  };
  const results: string[] = [];
  for (const content of contents) {
    const result = await deliver(target, content, {
      id: 'id-1',
      exchange: (to, { method, headers, body = '' }) => {
        sent.push({ url: to.href, method, headers, json: JSON.parse(body) as Sent['json'] });
        return Promise.resolve({ result: { kind: 'sent', message: 'accepted' } });
      },
      mail: () => assert.fail('no mail'),
      dashboardUrl: 'https://images.example.com',
      cluster,
      now: Date.now,
      signal: new AbortController().signal,
    });
    assert.equal(result.kind, 'sent');
    results.push(result.message);
  }
  return { sent, results };
}

const keyOf = async (content: Content, cluster?: string) =>
  (await send('pagerduty', [content], cluster === undefined ? {} : { cluster })).sent[0]?.json['dedup_key'];

describe('an incident', () => {
  it('is opened only by notices that need action', () => {
    for (const kind of noticeKinds)
      if (effects[kind] === 'trigger') assert.ok(['failure', 'attention'].includes(severityOf[kind]), kind);
      else if (severityOf[kind] === 'failure') assert.fail(kind);
  });

  it('of pagerduty has the title, the severity, the facts and the link, and is resolved by its key', async () => {
    const { sent } = await send('pagerduty', [
      noticeOf('RolloutFailed', { message: 'see http://logs.example.com' }),
      noticeOf('RolledBack'),
    ]);
    const [opened, resolved] = sent;
    assert.equal(opened?.url, 'https://events.pagerduty.com/v2/enqueue');
    const { dedup_key: key, ...event } = opened.json;
    assert.deepEqual(event, {
      routing_key: 'the-key',
      event_action: 'trigger',
      payload: {
        summary: '[prod-eu] shop/web 1.4.2 failed: CrashLoop (1 workload)',
        source: 'prod-eu',
        severity: 'critical',
        timestamp: at,
        component: 'shop/web',
        custom_details: {
          Image: '1.4.2',
          Workloads: 'Deployment shop/web',
          Reason: 'CrashLoop',
          Why: 'see http:\u2060//logs.example.com',
        },
      },
      links: [{ text: 'Open the policy', href: 'https://images.example.com/policies/shop/web#push' }],
    });
    assert.deepEqual(resolved?.json, { routing_key: 'the-key', event_action: 'resolve', dedup_key: key });
  });

  for (const [url, below] of [
    ['https://api.opsgenie.com/v2/alerts', 'https://api.opsgenie.com/v2/alerts'],
    ['https://api.eu.opsgenie.com/v2/alerts/', 'https://api.eu.opsgenie.com/v2/alerts'],
  ] as const)
    it(`of opsgenie is an alert at ${url}, which is closed by its alias`, async () => {
      const { sent } = await send('opsgenie', [noticeOf('Blocked', { reason: 'RegistryDenied' }), noticeOf('RolledOut')], { url });
      const [opened, closed] = sent;
      assert.equal(opened?.url, url);
      assert.equal(opened.headers['authorization'], 'GenieKey the-key');
      const { alias, ...alert } = opened.json;
      assert.deepEqual(alert, {
        message: '[prod-eu] shop/web is blocked: RegistryDenied',
        description: [
          '[prod-eu] shop/web is blocked: RegistryDenied',
          'Image: 1.4.2',
          'Workloads: Deployment shop/web',
          'Reason: RegistryDenied',
          'Open the policy: https://images.example.com/policies/shop/web#explanation',
        ].join('\n'),
        entity: 'shop/web',
        source: 'prod-eu',
        priority: 'P3',
      });
      assert.ok(typeof alias === 'string' && alias.length <= 512);
      assert.equal(closed?.url, `${below}/${alias}/close?identifierType=alias`);
      assert.deepEqual(closed.json, { source: 'prod-eu', note: '[prod-eu] shop/web 1.4.2 rolled out (1 workload)' });
    });

  it('of incident.io is an event at the address of its source, and is resolved by its key', async () => {
    const url = 'https://api.incident.io/v2/alert_events/http/01ABC';
    const { sent } = await send('incidentIo', [noticeOf('RolloutFailed'), noticeOf('RolledBack')], { url });
    const [opened, resolved] = sent;
    assert.deepEqual([opened?.url, opened?.method, opened?.headers['authorization']], [url, 'POST', 'Bearer the-key']);
    const { deduplication_key: key, ...event } = opened?.json ?? {};
    assert.deepEqual(event, {
      title: '[prod-eu] shop/web 1.4.2 failed: CrashLoop (1 workload)',
      status: 'firing',
      description: ['Image: 1.4.2', 'Workloads: Deployment shop/web', 'Reason: CrashLoop'].join('\n'),
      source_url: 'https://images.example.com/policies/shop/web#push',
      metadata: { severity: 'failure', subject: 'shop/web', cluster: 'prod-eu' },
    });
    assert.deepEqual(
      [resolved?.url, resolved?.json],
      [url, { title: '[prod-eu] shop/web failed, rolled back to 1.4.2 (1 workload)', status: 'resolved', deduplication_key: key }],
    );
  });

  it('is one for all notices about a policy, and another for another policy, a recreated policy, and another cluster', async () => {
    const first = await keyOf(noticeOf('RolloutFailed'));
    assert.equal(await keyOf(noticeOf('RolledOut', { tag: '1.4.3', reason: 'other' })), first);
    const others = await Promise.all([
      keyOf(noticeOf('RolloutFailed', { subject: { ...subject, name: 'api' } })),
      keyOf(noticeOf('RolloutFailed', { subject: { ...subject, uid: 'u2' } })),
      keyOf(noticeOf('RolloutFailed', { subject: { ...subject, kind: 'BaseImagePolicy' } })),
      keyOf(noticeOf('RolloutFailed'), 'prod-us'),
    ]);
    assert.equal(new Set([first, ...others]).size, 5);
  });

  it('of an image is the same, whichever policy reports it', async () => {
    const image = { kind: 'Image', namespace: 'shop', name: 'r/web:1.2.3' } as const;
    assert.equal(
      await keyOf(noticeOf('RolloutFailed', { subject: { ...image, uid: 'child' } })),
      await keyOf(noticeOf('RolledOut', { subject: { ...image, uid: 'parent' } })),
    );
  });

  it('is not opened by notices that need no action, or by a test', async () => {
    const { sent, results } = await send('pagerduty', [
      noticeOf('Updated'),
      { type: 'summary', target: 'calls', at, notices: [], more: 2 },
      { type: 'test', target: 'calls', at },
    ]);
    assert.deepEqual(results, ['nothing to report: Updated needs nobody', 'nothing to report: the summary needs nobody', 'accepted']);
    assert.deepEqual(
      sent.map(({ json }) => json['event_action']),
      ['resolve'],
    );
  });

  it('is opened by a summary of notices that need action', async () => {
    const notices = [noticeOf('Updated'), noticeOf('RolloutFailed')].flatMap((content) =>
      content.type === 'notice' ? [content.notice] : [],
    );
    const { sent } = await send('pagerduty', [{ type: 'summary', target: 'calls', at, notices, more: 0 }]);
    const { event_action: action, payload } = sent[0]?.json ?? {};
    assert.deepEqual([action, (payload as { summary: string }).summary], ['trigger', '[prod-eu] 2 more notifications, summed up']);
  });

  it('has a title cut to the limit of each service', async () => {
    const long = noticeOf('Blocked', { reason: '@'.repeat(3_000) });
    const [page] = (await send('pagerduty', [long])).sent;
    const { summary = '' } = (page?.json['payload'] ?? {}) as { summary?: string };
    assert.ok(summary.endsWith('…') && summary.length <= 1_024, summary);
    const [alert] = (await send('opsgenie', [long])).sent;
    assert.ok(String(alert?.json['message']).length <= 130 && String(alert?.json['description']).length <= 15_000);
  });
});
