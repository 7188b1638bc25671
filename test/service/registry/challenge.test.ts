import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChallenges } from '../../../src/service/registry/challenge.ts';

const bearer = {
  scheme: 'bearer',
  parameters: { realm: 'https://auth.example.com/token', service: 'registry.example.com', scope: 'repository:a/b:pull,push' },
};

const table: [name: string, header: string | string[] | undefined, expected: object[]][] = [
  ['no header', undefined, []],
  ['an empty header', '', []],
  ['basic', 'Basic realm="Registry Realm"', [{ scheme: 'basic', parameters: { realm: 'Registry Realm' } }]],
  [
    'bearer with commas inside a string',
    'Bearer realm="https://auth.example.com/token",service="registry.example.com",scope="repository:a/b:pull,push"',
    [bearer],
  ],
  [
    'any case, spaces around everything',
    ' BEARER  Realm = "https://auth.example.com/token" , SERVICE=registry.example.com ,scope="repository:a/b:pull,push" ,',
    [bearer],
  ],
  [
    'several in one header',
    'Basic realm="x", Bearer realm="y"',
    [
      { scheme: 'basic', parameters: { realm: 'x' } },
      { scheme: 'bearer', parameters: { realm: 'y' } },
    ],
  ],
  [
    'several headers',
    ['Bearer realm="y"', 'Basic realm="x"'],
    [
      { scheme: 'bearer', parameters: { realm: 'y' } },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ],
  ],
  [
    'schemes without parameters and with token68',
    'Negotiate, NTLM abc+/==, Basic realm=x',
    [
      { scheme: 'negotiate', parameters: {} },
      { scheme: 'ntlm', parameters: {} },
      { scheme: 'basic', parameters: { realm: 'x' } },
    ],
  ],
  ['escapes', String.raw`Basic realm="say \"hi\" \\ bye"`, [{ scheme: 'basic', parameters: { realm: String.raw`say "hi" \ bye` } }]],
  [
    'an unquoted URL',
    'Bearer realm=https://a.example/token?x=1,service=s',
    [{ scheme: 'bearer', parameters: { realm: 'https://a.example/token?x=1', service: 's' } }],
  ],
  ['a string without an end', 'Bearer realm="https://a.example', [{ scheme: 'bearer', parameters: { realm: 'https://a.example' } }]],
  ['the first of two equal names', 'Basic realm="a", realm="b"', [{ scheme: 'basic', parameters: { realm: 'a' } }]],
  ['a parameter of no scheme', 'realm="x"', []],
  ['rubbish', '"", ==;;(Basic) realm="x"', [{ scheme: 'basic', parameters: { realm: 'x' } }]],
];

for (const [name, header, expected] of table) {
  test(`WWW-Authenticate is parsed in the case "${name}"`, () => assert.deepEqual(parseChallenges(header), expected));
}
