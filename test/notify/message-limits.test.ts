/** No text makes a message longer than its chat takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { noticeKinds, type Notice } from '../../src/core/model/notice.ts';
import type { MessageType } from '../../src/notify/message.ts';
import { targets } from '../../src/notify/targets/index.ts';

const at = '2026-11-23T12:00:00Z';
const delivery = { id: 'id-1', secret: '', now: new Date(at), dashboardUrl: 'https://images.example.com', cluster: 'prod-eu' };
const notice: Notice = {
  kind: 'Updated',
  subject: { kind: 'ImagePolicy', namespace: 'shop', name: 'web', uid: 'u1' },
  at,
  tag: '1.4.1',
};

/** The characters of all strings in a document. */
const lengthOf = (node: unknown): number =>
  typeof node === 'string'
    ? node.length
    : typeof node === 'object' && node !== null
      ? Object.values(node).reduce<number>((sum, one) => sum + lengthOf(one), 0)
      : 0;
const within = (value: string, most: number, what: string) => assert.ok(value.length <= most, `${what}: ${value.length}`);

interface SlackBlock {
  readonly text?: { readonly text: string };
  readonly fields?: readonly { readonly text: string }[];
  readonly elements?: readonly { readonly text: string | { readonly text: string } }[];
}

/** The documented limits of each chat. */
const limits: Readonly<Partial<Record<MessageType, (json: never, bytes: number) => void>>> = {
  slack({ blocks, attachments }: { blocks: SlackBlock[]; attachments: { blocks: SlackBlock[] }[] }) {
    const [header] = blocks;
    within(header?.text?.text ?? '', 150, 'header');
    const all = attachments.flatMap((one) => one.blocks);
    assert.ok(all.length < 50);
    for (const { fields = [], elements = [] } of all) {
      assert.ok(fields.length <= 10 && elements.length <= 10);
      for (const field of fields) within(field.text, 2_000, 'field');
      for (const { text } of elements) within(typeof text === 'string' ? text : text.text, 3_000, 'element');
    }
  },
  discord({ embeds: [embed] }: { embeds: { title: string; description?: string; fields: { name: string; value: string }[] }[] }) {
    within(embed?.title ?? '', 256, 'title');
    within(embed?.description ?? '', 4_096, 'description');
    assert.ok((embed?.fields.length ?? 0) <= 25);
    for (const { name, value } of embed?.fields ?? []) {
      within(name, 256, 'name');
      within(value, 1_024, 'value');
      assert.ok(value !== '');
    }
    const { title, description, fields } = embed ?? {};
    assert.ok(lengthOf([title, description, fields]) <= 6_000, String(lengthOf([title, description, fields])));
  },
  telegram({ text }: { text: string }) {
    const seen = text.replaceAll(/<[^>]*>/g, '').replaceAll(/&\w+;|&#39;/g, '?');
    within(seen, 4_096, 'text');
  },
  matrix: (_: unknown, bytes: number) => assert.ok(bytes <= 60_000, String(bytes)),
  mattermostBot: (json: unknown) => assert.ok(lengthOf(json) <= 16_383),
  mattermost: (json: unknown) => assert.ok(lengthOf(json) <= 16_383),
  // The service documents no limits; those of Opsgenie are the shortest.
  incidentIo: ({ title, description }: { title: string; description: string }) => {
    within(title, 512, 'title');
    within(description, 15_000, 'description');
  },
  teams: (_: unknown, bytes: number) => assert.ok(bytes <= 28_000, String(bytes)),
  googleChat: (_: unknown, bytes: number) => assert.ok(bytes <= 32_000, String(bytes)),
};

describe('the longest message', () => {
  const longOrigin = (letter: string) => ({
    repository: `https://gitlab.example.com/${Array.from({ length: 12 }, () => letter.repeat(100)).join('/')}`,
    revision: 'a'.repeat(64),
    version: '1',
  });
  for (const [id, check] of Object.entries(limits))
    for (const [name, letter] of Object.entries({
      letters: 'a',
      markup: '*',
      'angle brackets': '<',
      quotes: '"',
      'wide letters': '界',
      joiners: '@',
    }))
      it(`of ${id} with ${name} is within its limits`, () => {
        const long = letter.repeat(9_000);
        const full: Notice = {
          ...notice,
          kind: 'ApprovalRequired',
          tag: long,
          digest: `sha256:${'a'.repeat(64)}`,
          base: long,
          images: { current: 1, behind: 1, refused: 1, unknown: 1 },
          from: [long, long],
          workloads: Array<string>(9).fill(letter.repeat(200)),
          reason: long,
          message: long,
          nextStep: long,
        };
        const notices = noticeKinds.flatMap((kind) =>
          Array.from({ length: 20 }, (_, index) => ({
            ...notice,
            kind,
            subject: { ...notice.subject, name: `${index}${letter.repeat(250)}` },
          })),
        );
        for (const content of [
          { type: 'notice', notice: full, origins: { now: longOrigin('a'), before: { ...longOrigin('a'), revision: 'b'.repeat(64) } } },
          { type: 'summary', target: 'ops', at, notices, more: 5 },
        ] as const) {
          const { body } = targets[id as MessageType].build(content, delivery);
          check(JSON.parse(body) as never, Buffer.byteLength(body));
        }
      });
});
