import type { LookupFunction } from 'node:net';
import { formatRepository } from '../core/image-reference.ts';
import { accessKey, type ImageSource } from '../core/image-source.ts';
import { createAuthentication } from './authentication.ts';
import type { CredentialSource } from './credential.ts';
import { HostLimits } from './host-limits.ts';
import { createHttp, type RequestRecord } from './http.ts';
import { headManifest, type ManifestHead } from './manifests.ts';
import { Registries, type RegistrySettings } from './registries.ts';
import { SingleFlight } from './single-flight.ts';
import { listTags } from './tags.ts';
import { Tokens } from './token.ts';

/**
 * Reads from registries. Rejects by what happens next: PermanentError (RegistryRefused: the configuration or the address guard; RegistryDenied:
 * the credentials), WaitError (RegistryThrottled), the signal's reason, or a plain Error (retry) that says what was being done.
 */
export interface RegistryClient {
  /** HEAD of the tag; undefined when the registry says 404. */
  headManifest(source: ImageSource, tag: string, signal?: AbortSignal): Promise<ManifestHead | undefined>;
  /** All tags, following Link pages; undefined when the registry does not know the repository (404). */
  listTags(source: ImageSource, signal?: AbortSignal): Promise<string[] | undefined>;
  /** Closes the connections when the last request has ended. */
  close(): Promise<void>;
}

export interface RegistryClientOptions {
  /** Settings per host; a host without an entry: https, defaults. */
  registries: readonly RegistrySettings[];
  /** Hosts that may be asked; empty: all but link-local and metadata addresses, which are refused in any case. */
  allowedRegistries: readonly string[];
  credentials: CredentialSource;
  now?: () => number;
  random?: () => number;
  /** How names become addresses; the system's resolver unless given. */
  lookup?: LookupFunction;
  /** Called after each request, for metrics. */
  onRequest?: (request: RequestRecord) => void;
  /** For one whole request, its body included, without the wait for its turn. */
  timeoutMs?: number;
}

/** Creates a client; throws an Error when a `caFile` cannot be read. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { allowedRegistries, credentials, now = Date.now, random = Math.random, lookup, onRequest, timeoutMs = 10_000 } = options;
  const clock = { now, random };
  const registries = new Registries({ registries: options.registries, allowedRegistries, timeoutMs, lookup });
  const limits = new HostLimits({ settings: (host) => registries.settings(host), now });
  const http = createHttp({ limits, timeoutMs, onRequest });
  const send = createAuthentication({ http, tokens: new Tokens({ http, clock }), credentials });
  const lists = new SingleFlight<string[] | undefined>();
  return {
    async headManifest(source, tag, signal) {
      return headManifest(send, clock, { registry: registries.find(source), source, tag, signal });
    },
    async listTags(source, signal) {
      const registry = registries.find(source);
      const key = `${formatRepository(source)} ${accessKey(source)}`;
      return lists.run(key, (signal) => listTags(send, clock, { registry, source, signal }), signal);
    },
    close: () => registries.close(),
  };
}
