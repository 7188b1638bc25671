import type { WorkedExample } from './worked-example.ts';

const source = `import type { CredentialSource } from '../credential.ts';

/** The same token for every registry, as a worked example. */
export function fixedTokenCredentials({ token }: { readonly token?: string }): CredentialSource {
  return () => [
    {
      source: 'the fixed token',
      read: () => Promise.resolve(token === undefined ? { why: 'is not set' } : { username: 'token', password: token }),
    },
  ];
}
`;

const test = `import { fixedTokenCredentials } from '../../../../src/service/registry/credentials/fixed-token.ts';
import { imageAt, testSource } from './conformance.ts';

const expected = { username: 'token', password: 'pa55word' };
const world = (token?: string) =>
  Promise.resolve({
    source: fixedTokenCredentials(token === undefined ? {} : { token }),
    image: imageAt('r.example.com'),
    expected,
    asked: () => 0,
  });

testSource({ name: 'fixed-token', start: () => world(expected.password), startWithout: () => world(), why: /^is not set$/ });
`;

export const example: WorkedExample = {
  row: 'source of registry credentials',
  word: 'fixed-token',
  steps: [
    { file: 'src/service/registry/credentials/fixed-token.ts', text: source, without: 'both' },
    {
      file: 'src/service/registry/credentials/index.ts',
      after: {
        "import { fallbackSecretCredentials } from './fallback-secret.ts';": "import { fixedTokenCredentials } from './fixed-token.ts';",
        "'docker-config-file': docker": "  'fixed-token': fixedTokenCredentials,",
      },
      without: 'both',
    },
    {
      file: 'src/service/compose/registries.ts',
      after: { "'docker-config-file': file": "    'fixed-token': credentialSources['fixed-token']({})," },
      without: 'types',
    },
    { file: 'test/service/registry/credentials/fixed-token.test.ts', text: test, without: 'suite' },
    {
      file: 'test/structure/families.test.ts',
      after: { "'docker-config-file': '": "  'fixed-token': '| 6 | a fixed token |'," },
      without: 'both',
    },
    { file: 'docs/credentials.md', after: { '| 5 | a Docker config file': '| 6 | a fixed token | nothing |' }, without: 'suite' },
  ],
  suite: ['test/service/registry/credentials/fixed-token.test.ts', 'test/structure/families.test.ts'],
};
