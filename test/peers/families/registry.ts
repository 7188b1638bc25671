/** Reading from a registry: each case has a registry of its own, over HTTP, that answers as the case says. */
import { z } from 'zod';
import { parseChallenges } from '../../../src/service/registry/challenge.ts';
import { createRegistryClient, type RegistryClient } from '../../../src/service/registry/client.ts';
import type { Repository } from '../../../src/core/model/image-reference.ts';
import { fakeDigest, startFakeRegistry, type FakeRegistry } from '../../harness/fake-registry.ts';
import { family } from '../family.ts';

/** What a registry's WWW-Authenticate headers ask for. */
export const challenges = family('challenges', z.strictObject({ headers: z.array(z.string()) }), ({ headers }) => parseChallenges(headers));

const page = z.strictObject({ tags: z.array(z.string()).optional(), body: z.string().optional(), link: z.string().optional() });

/** The tags of a list in several pages; `HOST` in a link is the registry's. */
export const tagLists = family('tag-lists', z.strictObject({ pages: z.array(page) }), ({ pages }) =>
  withRegistry(async ({ fake, client, repository }) => {
    for (const { tags, body = JSON.stringify({ tags }), link } of pages)
      fake.answerNext({ body, ...(link !== undefined && { headers: { link: link.replace('HOST', fake.host) } }) });
    return orError(client.listTags(repository));
  }),
);

/** The digests of what refers to an image, where the registry answers so. */
export const referrers = family('referrers', z.strictObject({ status: z.int(), body: z.string() }), (answer) =>
  withRegistry(async ({ fake, client, repository }) => {
    const headers = { 'content-type': 'application/vnd.oci.image.index.v1+json' };
    fake.answerNext({ ...answer, headers }, { path: '/v2/team/app/referrers/' });
    return orError(client.listReferrers(repository, fakeDigest('a')).then((found) => found.map(({ digest }) => digest)));
  }),
);

const annotations = z.record(z.string(), z.string());
const image = z.strictObject({ created: z.string().optional(), annotations: annotations.optional(), labels: annotations.optional() });
const index = z.strictObject({ annotations: annotations.optional(), entries: z.array(annotations).optional() });

/** When an image was created, by what it says of itself; null where it does not say. */
export const creationTimes = family(
  'creation-times',
  z.strictObject({ images: z.array(image), index: index.optional() }),
  ({ images, index }) =>
    withRegistry(async ({ fake, client, repository }) => {
      const digests = images.map((one, number) => push(fake, one, number));
      const tag = index === undefined ? '0' : 'all';
      if (index !== undefined) {
        const manifests = digests.map((digest, number) => ({
          mediaType: 'application/vnd.oci.image.manifest.v1+json',
          digest,
          size: 1,
          platform: platformOf(number),
          annotations: index.entries?.[number],
        }));
        const mediaType = 'application/vnd.oci.image.index.v1+json';
        fake.setManifest('team/app', tag, JSON.stringify({ schemaVersion: 2, mediaType, manifests, annotations: index.annotations }));
      }
      return (await client.readImage(repository, tag))?.created?.toISOString() ?? null;
    }),
);

interface World {
  readonly fake: FakeRegistry;
  readonly client: RegistryClient;
  readonly repository: Repository;
}

async function withRegistry<T>(use: (world: World) => Promise<T>): Promise<T> {
  const fake = await startFakeRegistry();
  const client = createRegistryClient({
    registries: [{ host: fake.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [],
  });
  try {
    return await use({ fake, client, repository: { registry: fake.host, path: 'team/app' } });
  } finally {
    await fake.stop();
    await client.close();
  }
}

async function orError<T>(answer: Promise<T>): Promise<T | 'error'> {
  try {
    return await answer;
  } catch {
    return 'error';
  }
}

function push(fake: FakeRegistry, { created, annotations, labels }: z.output<typeof image>, number: number): string {
  const config = JSON.stringify({ ...platformOf(number), created, config: { Labels: labels } });
  const digest = fake.setBlob('team/app', config);
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest, size: config.length },
    layers: [],
    annotations,
  };
  return fake.setManifest('team/app', `${number}`, JSON.stringify(manifest));
}

function platformOf(number: number): { os: string; architecture: string } {
  return { os: 'linux', architecture: number === 0 ? 'amd64' : 'arm64' };
}
