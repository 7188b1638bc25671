/** Templates of users: what they may reach, spend and break. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Notice } from '../../src/core/model/notice.ts';
import { deliver } from '../../src/notify/deliver.ts';
import type { ConfiguredTarget } from '../../src/core/model/configured-target.ts';
import type { MessageType } from '../../src/notify/message.ts';
import { renderTemplate } from '../../src/notify/render-template.ts';
import { targets } from '../../src/notify/targets/index.ts';
import { textsOf } from './shown-texts.ts';

const notice: Notice = {
  kind: 'Updated',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
  at: '2026-11-23T12:00:00Z',
  tag: '1.4.2',
  workloads: ['Deployment shop/web', 'CronJob shop/report'],
  message: '<!channel> *bold*',
};
const escape = (value: string) => value.replaceAll(/[<*]/g, '\\$&');
const textOf = (text: string) =>
  renderTemplate({ text }, notice, { now: { repository: 'https://github.com/shop/web', revision: 'abc1234' } }).text?.(escape);

describe('a template of notifications', () => {
  for (const [template, expected] of Object.entries({
    '{{ policy }} {{ event }} {{ tag }}': 'shop/web Updated 1.4.2',
    '{{ icon }} {{ severity }}': '🔵 info',
    '{{ workloads | join: ", " }}': 'Deployment shop/web, CronJob shop/report',
    '{% for one in workloads %}- {{ one }}\n{% endfor %}': '- Deployment shop/web\n- CronJob shop/report\n',
    '{% if event == "Updated" %}ok{% endif %}': 'ok',
    '{{ source }}/commit/{{ revision }}': 'https://github.com/shop/web/commit/abc1234',
    '*{{ message }}*': '*\\<!channel> \\*bold\\**',
    '{{ message | raw }}': '\\<!channel> \\*bold\\*',
    '{{ message | upcase }}': '\\<!CHANNEL> \\*BOLD\\*',
    '{{ nothing }}{{ digest }}': '',
    '{{ policy.constructor }}{{ workloads.__proto__ }}{{ __proto__ }}{{ constructor.constructor }}': '',
    '{{ process.env }}{{ globalThis }}{{ require }}': '',
  }))
    it(`renders ${JSON.stringify(template)} as ${JSON.stringify(expected)}`, () => assert.equal(textOf(template), expected));

  for (const template of [
    '{% include "/etc/passwd" %}',
    '{% render "../../etc/passwd" %}',
    '{% layout "/etc/passwd" %}',
    '{{ policy | nofilter }}',
    '{% if %}',
    '{{ policy',
    '{% for a in (1..1000000000) %}x{% endfor %}',
    '{% for a in (1..100000) %}{% for b in (1..100000) %}x{% endfor %}{% endfor %}',
  ])
    it(`fails for ${template}`, () => assert.throws(() => textOf(template)));

  it('may format dates in a loop', () =>
    assert.equal(textOf('{% for i in (1..40) %}{{ 1 | date: "%Y-%m-%d", "Asia/Aden" }}{% endfor %}'), '1970-01-01'.repeat(40)));

  it('may have nested loops over its values', () =>
    assert.equal(textOf(`${'{% for a in workloads %}'.repeat(3)}x${'{% endfor %}'.repeat(3)}`), 'xxxxxxxx'));

  // Of each, one more round is too much: the work is counted, whatever the machine.
  const long = `{% assign a = "0123456789" %}${'{% assign a = a | append: a %}'.repeat(10)}`;
  for (const [name, template] of Object.entries({
    'loops in loops over a range': '{% for a in (1..440) %}{% for b in (1..440) %}{% endfor %}{% endfor %}',
    'loops whose names are not ASCII': `${'{% for é in (1..40) %}'.repeat(3)}x${'{% endfor %}'.repeat(3)}`,
    'loops without blanks, as lines of one tag': '{% liquid\nfor a in(1..99)\nfor b in(1..99)\necho a\nendfor\nendfor %}',
    'a table of many cells': '{% tablerow a in (1..9000) %}{% endtablerow %}',
    'a replacement at each character': `${long}{% assign b = a | replace: "", a %}`,
    'comparisons of long texts': `${long}{% for i in (1..30) %}{% if a contains "9" or a contains "8" %}{% endif %}{% endfor %}`,
    'filters of nothing': `{% for i in (1..900) %}{{ x${' | upcase'.repeat(300)} }}{% endfor %}`,
    'values of a case': `{% for i in (1..900) %}{% case i %}{% when ${'0,'.repeat(900)}0 %}{% endcase %}{% endfor %}`,
    'a cycle of many values': `{% for i in (1..900) %}{% cycle ${'0,'.repeat(900)}0 %}{% endfor %}`,
    'a long text again and again': `${long}{% for i in (1..30) %}{{ a }}{% endfor %}`,
    'a long literal again and again': `{% for i in (1..900) %}${'x'.repeat(3_000)}{% endfor %}`,
    'padding of a date': '{{ "now" | date: "%9999999d" }}',
    'dates in time zones': `{% for i in (1..60) %}${'{{ 1 | date: "", "Asia/Aden" }}{{ 1 | date: "", "Asia/Omsk" }}'.repeat(2)}{% endfor %}`,
    'names of months and days': `{{ 1 | date: "${'%A%B'.repeat(250)}" }}`,
    'dates without a format': `{% for i in (1..60) %}{{ 1 | date }}{% endfor %}`,
    'a filter that evaluates expressions': '{{ workloads | where_exp: "a", "a" }}',
    'a filter with a pattern of its own': `{{ "${'<!--'.repeat(500)}" | strip_html }}`,
  }))
    it(`fails because of too much work: ${name}`, () => assert.throws(() => textOf(template), /too much work|undefined filter/));

  it('has one limit of work for title and text together', () => {
    const half = '{% for a in (1..600) %}{% endfor %}';
    const render = (template: { title?: string; text?: string }) => renderTemplate(template, notice, {}).text?.(escape);
    render({ title: half });
    render({ text: half });
    assert.throws(() => render({ title: half, text: half }), /too much work/);
  });

  it('cannot make a text of unlimited length', () => {
    const doubling = `{% assign a = "0123456789" %}${'{% assign a = a | append: a %}'.repeat(60)}{{ a }}`;
    assert.throws(() => textOf(doubling));
  });
});

describe('a target with a template', () => {
  const send = async (template: ConfiguredTarget['template'], type: 'notice' | 'test' = 'notice', kind: 'slack' | 'email' = 'slack') => {
    const sent: string[] = [];
    const htmls: string[] = [];
    const target: ConfiguredTarget = {
      name: 'ops',
      kind,
      events: [],
      namespaces: [],
      insecure: false,
      template,
      email: { from: 'a@example.com', to: ['b@example.com'] },
      url: () => (kind === 'slack' ? 'https://chat.example.com/' : 'smtps://mail.example.com'),
      secret: () => '',
    };
    const ok = { kind: 'sent', message: '' } as const;
    const result = await deliver(target, type === 'notice' ? { type, notice } : { type, target: 'ops', at: notice.at }, {
      id: '1',
      exchange: (_, { body = '' }) => Promise.resolve({ result: (sent.push(body), ok) }),
      mail: (_, { headers, body, html }) => Promise.resolve((sent.push(`${headers['subject']}\n${body}`), htmls.push(html ?? ''), ok)),
      dashboardUrl: 'https://images.example.com',
      now: Date.now,
      signal: new AbortController().signal,
    });
    return { result, text: sent.join(), html: htmls.join() };
  };

  it('is sent its own text, with the button', async () => {
    const { text } = await send({ text: 'Hello *{{ name }}*: {{ message }}' });
    const { blocks, attachments } = JSON.parse(text) as { blocks: object[]; attachments: { blocks: object[] }[] };
    assert.deepEqual(blocks, [{ type: 'section', text: { type: 'mrkdwn', text: 'Hello *web*: &lt;!channel&gt; *\u2060bold*\u2060' } }]);
    const label = { type: 'plain_text', text: 'Open the policy', emoji: false };
    assert.deepEqual(attachments[0]?.blocks, [
      { type: 'actions', elements: [{ type: 'button', text: label, url: 'https://images.example.com/policies/shop/web#push' }] },
    ]);
  });

  for (const [id, expected] of Object.entries({
    slack: 'Hello &lt;!channel&gt; *\u2060bold*\u2060',
    slackBot: 'Hello &lt;!channel&gt; *\u2060bold*\u2060',
    mattermost: 'Hello \\<\u2060!channel\\> \\*bold\\*',
    mattermostBot: 'Hello \\<\u2060!channel\\> \\*bold\\*',
    discord: 'Hello \\<\u2060!channel\\> \\*bold\\*',
    teams: 'Hello \\<\u2060!channel\\> \\*bold\\*',
    googleChat: 'Hello <\u2060!channel>\u2060 *\u2060bold*\u2060',
    telegram: 'Hello &lt;\u2060!channel&gt; *bold*',
    matrix: 'Hello &lt;\u2060!channel&gt; *bold*',
    email: 'Hello <\u2060!channel> *bold*',
  } satisfies Readonly<Record<Exclude<MessageType, 'webhook' | 'pagerduty' | 'opsgenie' | 'incidentIo'>, string>>))
    it(`has its values escaped for ${id}, in place of the title and the facts`, () => {
      const rendered = renderTemplate({ text: 'Hello {{ message }}' }, notice, {});
      const target = targets[id as MessageType];
      const request = target.build({ type: 'notice', notice }, { id: '1', secret: '', now: new Date(), rendered });
      const { plain, markup } = textsOf(target, request);
      const texts = markup.filter((text) => text !== request.headers['subject']);
      assert.ok(
        texts.some((text) => text.split('\n').includes(expected)),
        JSON.stringify(texts),
      );
      // Only notifications of Slack and Mattermost have the title.
      const titles = [...plain, ...texts].filter((text) => text.includes('was applied'));
      assert.equal(titles.length, id.startsWith('slack') || id.startsWith('mattermost') ? 1 : 0);
    });

  it('is sent the built-in title if the template makes no text', async () => {
    const { text } = await send({ text: '{{ nothing }}' });
    assert.match(text, /"blocks":\[\{"type":"section","text":\{"type":"mrkdwn","text":"🔵 shop\/web 1\.4\.2 was applied /);
  });

  it('is sent its text also as HTML in mails', async () => {
    const { html } = await send({ text: 'Hello {{ name }}: {{ message }}\n<b>1 & 2</b>' }, 'notice', 'email');
    assert.ok(html.includes('>Hello web: &lt;\u2060!channel&gt; *bold*\n&lt;b&gt;1 &amp; 2&lt;/b&gt;</p>'), html);
  });

  it('is sent its title as the subject of mails, in one line', async () => {
    const { text } = await send({ title: '{{ policy }}\n{{ tag }}\r\nBcc: evil@example.com' }, 'notice', 'email');
    assert.match(text, /^\[image-watcher\] shop\/web 1\.4\.2 Bcc: evil@example\.com\n/);
  });

  it('is sent no rendered template for a minute after the template failed', async () => {
    const template = { text: '{{ a | nofilter }}' };
    await send(template);
    // What is not rendered does not fail: the same object is known by its failure alone.
    template.text = 'Hello';
    assert.match((await send(template)).text, /the template of the target fails: .*nofilter/);
    assert.match((await send({ ...template })).text, /"text":"Hello"/);
  });

  it('is sent the built-in message if the template fails, and a test says why', async () => {
    const { text, result } = await send({ text: '{{ a | nofilter }}' });
    assert.equal(result.kind, 'sent');
    assert.match(text, /shop\/web 1\.4\.2 was applied[^]*the template of the target fails: .*nofilter/);
    const tested = await send({ text: '{{ a | nofilter }}' }, 'test');
    assert.deepEqual([tested.result.kind, /nofilter/.test(tested.result.message), tested.text], ['failed', true, '']);
  });
});
