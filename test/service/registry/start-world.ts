import type { TestContext } from 'node:test';
import type { Repository } from '../../../src/core/model/image-reference.ts';
import { createRegistryClient, type RegistryClient, type RegistryClientOptions } from '../../../src/service/registry/client.ts';
import type { Credential, CredentialSource } from '../../../src/service/registry/credential.ts';
import { type FakeRegistry, startFakeRegistry } from '../../harness/fake-registry.ts';

/** A fake registry and a client that knows it as insecure, both gone after the test. */
export type World = { fake: FakeRegistry; client: RegistryClient; repository: Repository };

/** Starts a world for one test; the repository is `team/app`. */
export async function startWorld(test: TestContext, options: Partial<RegistryClientOptions> = {}): Promise<World> {
  const fake = await startFakeRegistry();
  const client = createRegistryClient({
    registries: [{ host: fake.host, insecure: true }],
    allowedRegistries: [],
    credentials: () => [],
    random: () => 0,
    ...options,
  });
  test.after(async () => {
    await fake.stop();
    await client.close();
  });
  return { fake, client, repository: { registry: fake.host, path: 'team/app' } };
}

/** `GET /token`, `HEAD /v2/team/app/manifests/1`: what the fake was asked, without queries. */
export function asked(fake: FakeRegistry): string[] {
  return fake.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`);
}

/** A source that always offers this credential; nothing without one. */
export function offering(credential: Credential | undefined, source = 'Secret shop/creds'): CredentialSource {
  return () => (credential === undefined ? [] : [{ source, isOwn: true, read: async () => credential }]);
}
