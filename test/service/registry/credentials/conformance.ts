/** What every source of credentials promises, whatever it asks. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { normaliseRepository } from '../../../../src/core/model/image-reference.ts';
import type { ImageSource } from '../../../../src/core/model/image-source.ts';
import type { Credential, CredentialOffer, CredentialSource } from '../../../../src/service/registry/credential.ts';

export interface SourceSample {
  /** The source, in a world where it has the credential of `image`. */
  readonly source: CredentialSource;
  readonly image: ImageSource;
  readonly expected: Credential;
  /** How often the world was asked. */
  readonly asked: () => number;
}

export interface Conformance {
  readonly name: string;
  readonly start: () => Promise<SourceSample>;
  /** The same source in a world where there is no credential, and what it says about that. */
  readonly startWithout: () => Promise<SourceSample>;
  readonly why: RegExp;
  /** Images whose registry is none of its business; with another reason not to offer anything, the source alone. */
  readonly foreign?: readonly string[];
}

/** `r.example.com/team/app` as a source of images. */
export function imageAt(registry: string, access?: ImageSource['access']): ImageSource {
  return { ...normaliseRepository(registry, 'team/app'), ...(access && { access }) };
}

/** The only offer of a source. */
export function offerOf(source: CredentialSource, image: ImageSource): CredentialOffer {
  const [offer, ...more] = source(image);
  assert.ok(offer !== undefined && more.length === 0, `${more.length + (offer ? 1 : 0)} offers`);
  return offer;
}

/** Runs the promises against one source. */
export function testSource({ name, start, startWithout, why, foreign = [] }: Conformance): void {
  describe(`${name}: what every source promises`, () => {
    it('offers its credential, named for a user', async () => {
      const { source, image, expected } = await start();
      const offer = offerOf(source, image);
      assert.deepEqual(await offer.read({ refresh: false }), expected);
      assert.ok(offer.source.length > 5 && !offer.source.includes(expected.password));
    });

    it('requests nothing before it is read, once for simultaneous readers, and not again for the next', async () => {
      const { source, image, asked } = await start();
      const offer = offerOf(source, image);
      assert.equal(asked(), 0);
      await Promise.all([offer.read({ refresh: false }), offerOf(source, image).read({ refresh: false })]);
      const once = asked();
      await offerOf(source, image).read({ refresh: false });
      assert.equal(asked(), once);
    });

    it('says why it has none, and does not request it again for each push', async () => {
      const { source, image, expected, asked } = await startWithout();
      const read = await offerOf(source, image).read({ refresh: false });
      assert.ok('why' in read);
      assert.match(read.why, why);
      assert.ok(!read.why.includes(expected.password));
      const once = asked();
      await offerOf(source, image).read({ refresh: false });
      assert.equal(asked(), once);
    });

    for (const registry of foreign) {
      it(`offers nothing for ${registry}`, async () => {
        const { source, asked } = await start();
        assert.deepEqual(source(imageAt(registry)), []);
        assert.equal(asked(), 0);
      });
    }
  });
}
