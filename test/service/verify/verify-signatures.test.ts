import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type VerificationResult, wantSigner } from '../../../src/core/model/verification.ts';
import type { FoundSignature } from '../../../src/service/verify/find-signatures.ts';
import { readPublicKey } from '../../../src/service/verify/public-keys.ts';
import { type Trust, readTrustRoot } from '../../../src/service/verify/trust.ts';
import { verifySignatures } from '../../../src/service/verify/verify-signatures.ts';
import { digestOf } from '../../core/model/samples.ts';
import {
  bundleType,
  ecSigner,
  edSigner,
  pemOf,
  releaser,
  rsaSigner,
  signBundle,
  signBundleKeyless,
  signedAt,
  signSimple,
  signSimpleKeyless,
  simplePayload,
  statementOf,
  type KeylessOptions,
  type Signer,
} from './cosign.ts';
import { createSigstore } from './sigstore.ts';

const digest = digestOf('a');
const otherDigest = digestOf('b');
const ours = ecSigner();
const sigstore = createSigstore();
const trustRoot = readTrustRoot(sigstore.trustedRoot);

async function verify(found: readonly FoundSignature[], trust: Trust): Promise<VerificationResult> {
  async function* each() {
    yield* found;
  }
  return verifySignatures(each(), digest, trust);
}

const believing = (...signers: readonly Signer[]): Trust => ({
  keys: signers.map((signer, index) => readPublicKey(`key ${index}`, pemOf(signer))),
  signers: [],
});
const believingReleaser: Trust = { keys: [], signers: [wantSigner(releaser)], trustRoot };

describe('verifySignatures accepts', () => {
  const rows: readonly (readonly [name: string, signer: Signer])[] = [
    ['ECDSA P-256', ours],
    ['ECDSA P-384 with SHA-256, as cosign 2 does', ecSigner('P-384')],
    ['ECDSA P-384 with SHA-384, as cosign 3 does', ecSigner('P-384', 'sha384')],
    ['ECDSA P-521', ecSigner('P-521', 'sha512')],
    ['RSA', rsaSigner()],
    ['Ed25519', edSigner()],
  ];
  for (const [name, signer] of rows) {
    test(`a signature of cosign 2 with a key of the type "${name}"`, async () => {
      assert.deepEqual(await verify([signSimple(digest, signer)], believing(signer)), { kind: 'verified', by: 'key 0' });
    });
    test(`a signature of cosign 3 with a key of the type "${name}"`, async () => {
      assert.deepEqual(await verify([signBundle(digest, signer)], believing(signer)), { kind: 'verified', by: 'key 0' });
    });
  }

  test('one key out of several', async () => {
    assert.deepEqual(await verify([signSimple(digest, ours)], believing(ecSigner(), ours)), { kind: 'verified', by: 'key 1' });
  });

  test('one signature out of several', async () => {
    const found = [signSimple(digest, ecSigner()), signSimple(otherDigest, ours), signBundle(digest, ours)];
    assert.equal((await verify(found, believing(ours))).kind, 'verified');
  });

  for (const [name, make] of [
    ['cosign 2', signSimpleKeyless],
    ['cosign 3', signBundleKeyless],
  ] as const) {
    test(`a keyless signature of ${name} by its identity`, async () => {
      const by = `${releaser.identity} (by ${releaser.issuer})`;
      assert.deepEqual(await verify([make(digest, { sigstore })], believingReleaser), { kind: 'verified', by });
    });
    test(`a keyless signature of ${name} by an e-mail address`, async () => {
      const person = { identity: 'ada@example.com', issuer: 'https://accounts.google.com' };
      const trust = { ...believingReleaser, signers: [wantSigner(person)] };
      assert.equal((await verify([make(digest, { sigstore, ...person })], trust)).kind, 'verified');
    });
    test(`a keyless signature of ${name} by a pattern that matches the whole identity`, async () => {
      const signers = [
        wantSigner({ issuer: releaser.issuer, identityPattern: 'https://github\\.com/shop/web/\\.github/workflows/.*@refs/tags/v[0-9]+' }),
      ];
      assert.equal((await verify([make(digest, { sigstore })], { ...believingReleaser, signers })).kind, 'verified');
    });
    test(`a keyless signature of ${name} where the policy has keys as well`, async () => {
      assert.equal((await verify([make(digest, { sigstore })], { ...believingReleaser, keys: believing(ours).keys })).kind, 'verified');
    });
  }
});

interface Material {
  readonly tlogEntries: readonly { readonly inclusionProof: object }[];
}

describe('verifySignatures refuses', () => {
  const forgedPayload = { ...signSimple(digest, ours), payload: simplePayload(digest, { reference: 'registry.example.com/shop/other' }) };
  const textOf = (text: string): FoundSignature => ({ kind: 'bundle', json: Buffer.from(text) });
  const rows: readonly (readonly [name: string, found: FoundSignature, why: RegExp])[] = [
    ['cosign 2: of another image', signSimple(otherDigest, ours), /is for sha256:b/],
    ['cosign 2: another key', signSimple(digest, ecSigner()), /another key; a signature by key 0 \(\S{43}=\)/],
    ['cosign 2: another kind of key', signSimple(digest, rsaSigner()), /another key/],
    ['cosign 2: of another payload', forgedPayload, /another key/],
    ['cosign 2: another kind of payload', signSimple(digest, ours, simplePayload(digest, { type: 'atomic' })), /of type "atomic"/],
    ['cosign 2: a payload that is no JSON', signSimple(digest, ours, Buffer.from('x')), /payload of a signature is not one of cosign/],
    [
      'cosign 2: an empty signature',
      { ...signSimple(digest, ours), annotations: { 'dev.cosignproject.cosign/signature': '' } },
      /another key/,
    ],
    ['cosign 2: no signature', { ...signSimple(digest, ours), annotations: {} }, /another key/],
    ['cosign 2: keyless', signSimpleKeyless(digest, { sigstore }), /a signature is keyless; a signature by key 0/],
    ['cosign 3: of another image', signBundle(otherDigest, ours), /is for sha256:b/],
    ['cosign 3: another key', signBundle(digest, ecSigner()), /another key \(\S{43}=\); a signature by key 0/],
    ['cosign 3: keyless', signBundleKeyless(digest, { sigstore }), /a signature is keyless/],
    ['cosign 3: another type of content', signBundle(digest, ours, { payloadType: 'text/plain' }), /it contains "text\/plain"/],
    ['cosign 3: another kind of statement', signBundle(digest, ours, { payload: statementOf(digest, { type: 'x' }) }), /of type "x"/],
    ['cosign 3: nothing stated', signBundle(digest, ours, { payload: Buffer.from('{}') }), /not the signature of an image/],
    ['cosign 3: no JSON', textOf('<html>'), /not the signature of an image/],
    ['cosign 3: JSON that is something else', textOf('[null]'), /not the signature of an image/],
    ['cosign 3: an empty bundle', textOf(JSON.stringify({ mediaType: bundleType })), /not the signature of an image/],
    ['something unreadable', { kind: 'unreadable', why: 'it is gone' }, /it is gone/],
  ];
  for (const [name, found, why] of rows) {
    test(`the signature "${name}"`, async () => {
      const result = await verify([found], believing(ours));
      assert.equal(result.kind, 'invalid');
      assert.match(result.kind === 'invalid' ? result.why : '', why);
    });
  }

  const hour = 3_600_000;
  const wrongOptions: readonly (readonly [name: string, options: Partial<KeylessOptions>, why: RegExp])[] = [
    [
      'another repository',
      { identity: 'https://github.com/mallory/web' },
      /made by https:\/\/github\.com\/mallory\/web .*a signature by https:\/\/github\.com\/shop/,
    ],
    ['an identity that begins like the wanted one', { identity: `${releaser.identity}.1` }, /was made by/],
    ['an identity in which the wanted one is found', { identity: `https://mallory.example/?${releaser.identity}` }, /was made by/],
    [
      'an identity in other bytes that read the same',
      { identity: releaser.identity.replace('shop', '\u00f3hop') },
      /cannot be verified: .*not ASCII/,
    ],
    ['another issuer', { issuer: 'https://accounts.google.com' }, /by https:\/\/accounts\.google\.com/],
    ['an issuer that begins like the wanted one', { issuer: `${releaser.issuer}.mallory.example` }, /was made by/],
    ['a certificate that had expired', { issuedAt: new Date(signedAt.getTime() - hour) }, /cannot be verified/],
    ['a certificate that was not valid yet', { issuedAt: new Date(signedAt.getTime() + hour) }, /cannot be verified/],
    ['a certificate that is in no log', { isCertificateLogged: false }, /cannot be verified: .*SCT/],
    ['a signature that is in no log', { isLogged: false }, /cannot be verified/],
    ['another authority', { sigstore: createSigstore() }, /cannot be verified/],
    ['the log of others', { sigstore: { ...sigstore, log: createSigstore().log } }, /cannot be verified/],
    ['the authority of others', { sigstore: { ...sigstore, issue: createSigstore().issue } }, /cannot be verified/],
    [
      'an entry of another signature',
      { sigstore: { ...sigstore, log: (kind, _, at) => sigstore.log(kind, anotherEntry(kind), at) } },
      /cannot be verified/,
    ],
  ];
  for (const [name, options, why] of wrongOptions) {
    for (const [version, make] of [
      ['cosign 2', signSimpleKeyless],
      ['cosign 3', signBundleKeyless],
    ] as const) {
      test(`a keyless signature of ${version} with ${name}`, async () => {
        const result = await verify([make(digest, { sigstore, ...options })], believingReleaser);
        assert.equal(result.kind, 'invalid');
        assert.match(result.kind === 'invalid' ? result.why : '', why);
      });
    }
  }

  const evidence: Readonly<Record<string, (material: Material) => unknown>> = {
    'log entries': ({ tlogEntries: [entry] }) => ({
      tlogEntries: Array.from({ length: 5 }, (_, at) => ({ ...entry, integratedTime: `${at}` })),
    }),
    'signatures of a checkpoint': ({ tlogEntries: [entry] }) => ({
      tlogEntries: [
        {
          ...entry,
          inclusionProof: {
            ...entry?.inclusionProof,
            checkpoint: { envelope: `rekor.test\n1\nAA==\n\n${'\u2014 r AAAAAAAA\n'.repeat(1_000)}` },
          },
        },
      ],
    }),
    'digits of a position': ({ tlogEntries: [entry] }) => ({
      tlogEntries: [{ ...entry, inclusionProof: { ...entry?.inclusionProof, logIndex: '9'.repeat(100_000) } }],
    }),
    timestamps: () => ({
      timestampVerificationData: { rfc3161Timestamps: Array.from({ length: 5 }, () => ({ signedTimestamp: 'MAA=' })) },
    }),
    'parts of a timestamp': () => ({
      timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp: Buffer.alloc(100_000, '0500', 'hex').toString('base64') }] },
    }),
    'parts of a certificate': () => ({ certificate: { rawBytes: Buffer.alloc(100_000, '0500', 'hex').toString('base64') } }),
  };
  for (const [name, edit] of Object.entries(evidence)) {
    test(`a keyless signature with more ${name} than any real one has, before it is verified`, async () => {
      const bundle = JSON.parse(signBundleKeyless(digest, { sigstore }).json.toString()) as { verificationMaterial: Material };
      const verificationMaterial = { ...bundle.verificationMaterial, ...(edit(bundle.verificationMaterial) as object) };
      const result = await verify([textOf(JSON.stringify({ ...bundle, verificationMaterial }))], believingReleaser);
      assert.match(result.kind === 'invalid' ? result.why : result.kind, /has more log entries, timestamps or certificates than any real/);
    });
  }

  test('a keyless signature of another image', async () => {
    for (const make of [signSimpleKeyless, signBundleKeyless]) {
      const result = await verify([make(otherDigest, { sigstore })], believingReleaser);
      assert.match(result.kind === 'invalid' ? result.why : '', /is for sha256:b/);
    }
  });

  test('a pattern that matches only a part of the identity', async () => {
    const trust = {
      ...believingReleaser,
      signers: [wantSigner({ issuer: releaser.issuer, identityPattern: 'https://github\\.com/shop/' })],
    };
    assert.equal((await verify([signBundleKeyless(digest, { sigstore })], trust)).kind, 'invalid');
  });

  test('a key signature where only a keyless one is accepted', async () => {
    for (const found of [signSimple(digest, ours), signBundle(digest, ours)]) {
      assert.match(JSON.stringify(await verify([found], believingReleaser)), /another key/);
    }
  });

  test('many signatures that do not count, and reports only the first few reasons', async () => {
    const found = ['c', 'd', 'e', 'f', '0'].map((letter) => signSimple(digestOf(letter), ours));
    assert.match(JSON.stringify(await verify(found, believing(ours))), /sha256:e+; and 2 more; a signature by/);
  });
});

describe('verifySignatures refuses images with', () => {
  test('no signature', async () => {
    assert.equal((await verify([], believing(ours))).kind, 'unsigned');
  });
  test('only an attestation, however well signed', async () => {
    const payload = statementOf(digest, { predicateType: 'https://slsa.dev/provenance/v1' });
    assert.equal((await verify([signBundle(digest, ours, { payload })], believing(ours))).kind, 'unsigned');
    assert.equal((await verify([signBundleKeyless(digest, { sigstore, payload })], believingReleaser)).kind, 'unsigned');
  });
});

function anotherEntry(kind: string): object {
  const value = '0'.repeat(64);
  return kind === 'dsse'
    ? { payloadHash: { algorithm: 'sha256', value }, signatures: [{ signature: 'AAAA', verifier: '' }] }
    : { data: { hash: { algorithm: 'sha256', value } }, signature: { content: 'AAAA', publicKey: { content: '' } } };
}
