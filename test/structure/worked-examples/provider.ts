import type { WorkedExample } from './worked-example.ts';

const provider = `import { z } from 'zod';
import { verifyAnyHeader } from './headers.ts';
import { optionalText, parseJsonBody, toParsedDelivery } from './read-payload.ts';
import type { Provider } from './provider.ts';

const payload = z.object({ event: optionalText, repository: optionalText, tag: optionalText });

/** The registry of a worked example. */
export const acme: Provider = {
  id: 'acme',
  documentation: 'https://registry.example.com/docs/webhooks',
  verify: verifyAnyHeader,
  parse({ body }) {
    const { event, repository, tag } = parseJsonBody(payload, body);
    if (event !== 'pushed') return toParsedDelivery([{ reason: 'not a push' }]);
    if (!repository || !tag) return toParsedDelivery([{ code: 'Incomplete', reason: 'the event names no repository and tag' }]);
    return toParsedDelivery([{ repository, tag }]);
  },
};
`;

const page = `# Acme (\`acme\`)

\`\`\`yaml
receivers:
  - {name: acme, provider: acme, secrets: [{env: ACME_SECRET}], registry: registry.example.com}   # POST /webhooks/acme
\`\`\`

## Configure the sender

See [its documentation](https://registry.example.com/docs/webhooks).

## How it was tested

Tested with payloads of the vendor's documentation, through the real endpoint; not with a real Acme.
`;

// `credentials` are the headers that prove the sender. `registry` is that of the receiver, for a sender that names none.
const test = `import { acme } from '../../../../src/service/receive/providers/acme.ts';
import { testProvider } from './conformance.ts';

testProvider({ provider: acme, credentials: ['x-acme-token'], registry: 'registry.example.com' });
`;

// `decision` is push, ignore or handshake. `expected` is what the payload says, and null for what it does not say.
const sample = (name: string, decision: string, tags?: readonly string[]) => ({
  name,
  method: 'POST',
  file: `${name}.json`,
  headers: 'acme.headers.json',
  decision,
  expected: tags === undefined ? null : { registry: null, repository: 'team/api', tags, digest: null, timestamp: null },
});
const payloads = 'test/fixtures/payloads/acme';

export const example: WorkedExample = {
  row: 'kind of registry that announces pushes (provider)',
  word: 'acme',
  steps: [
    { file: 'src/service/receive/providers/acme.ts', text: provider, without: 'both' },
    {
      file: 'src/service/receive/providers/index.ts',
      after: { '/** The list of providers.': "import { acme } from './acme.ts';", 'export const providers': '  acme,' },
      without: 'suite',
    },
    { file: 'test/service/receive/providers/acme.test.ts', text: test, without: 'suite' },
    {
      file: `${payloads}/samples.json`,
      // One sample is the push of a chart; chart-pushes.test.ts names the senders that have none, and why.
      text: JSON.stringify({
        samples: [
          sample('acme-pushed', 'push', ['v1.2.3']),
          { ...sample('acme-chart', 'push', ['1.0.0']), artifact: 'Chart' },
          sample('acme-deleted', 'ignore'),
        ],
      }),
      without: 'suite',
    },
    { file: `${payloads}/acme-pushed.json`, text: '{"event":"pushed","repository":"team/api","tag":"v1.2.3"}', without: 'suite' },
    { file: `${payloads}/acme-chart.json`, text: '{"event":"pushed","repository":"team/api","tag":"1.0.0"}', without: 'suite' },
    { file: `${payloads}/acme-deleted.json`, text: '{"event":"deleted","repository":"team/api","tag":"v1.2.3"}', without: 'suite' },
    {
      file: `${payloads}/acme.headers.json`,
      text: '{"Content-Type":"application/json","X-Acme-Token":"test-webhook-secret-0123456789"}',
      without: 'suite',
    },
    {
      file: 'docs/receivers/acme.md',
      text: page,
      without: 'suite',
    },
    { file: 'docs/receivers.md', after: { '| [zot](receivers/zot.md)': '| [Acme](receivers/acme.md) | `acme` |' }, without: 'suite' },
  ],
  suite: [
    'test/service/receive/providers/acme.test.ts',
    'test/service/receive/providers/chart-pushes.test.ts',
    'test/structure/families.test.ts',
  ],
};
