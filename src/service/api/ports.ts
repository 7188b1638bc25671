/** What the routes reach the service through; `compose/api.ts` makes the real ones. */
import type { ImagePolicy } from '../../core/model/image-policy.ts';
import type { RegistryAliases } from '../../core/model/image-reference.ts';
import type { Announcements } from '../queue/unannounced-finds.ts';
import type { ListedReceiver } from '../queue/receiver-list.ts';
import type { Considered } from '../explain/plan-now.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Credentials } from './access.ts';
import type { Doctor } from './doctor-api.ts';
import type { EventPorts } from './events.ts';
import type { SelectedNamespaces } from './namespaces-api.ts';
import type { PolicyFeed, Streams } from './stream.ts';

export interface ApiPorts extends EventPorts {
  /** Of the program. */
  readonly version: string;
  readonly aliases: RegistryAliases;
  /** Why nothing can be stored at present, or undefined. */
  readonly refusal: () => string | undefined;
  /** Those that are open. */
  readonly streams: Streams;
  /** What Redis knows of receivers and registries. */
  readonly installation: InstallationPorts;
  /** Absent in a process without the role `work`. */
  readonly policies?: PolicyPorts | undefined;
  /** Absent in a process without the role `work`. */
  readonly doctor?: Doctor | undefined;
  /** Absent in a process without the role `work`. */
  readonly namespaces?: SelectedNamespaces | undefined;
  readonly logger: Logger;
}

/** The policies, and what callers may ask of them. */
export interface PolicyPorts {
  /** Whether all policies are known. */
  readonly areKnown: () => boolean;
  readonly all: () => Iterable<ImagePolicy>;
  readonly find: (namespace: string, name: string) => ImagePolicy | undefined;
  /** The policy with its defaults, and why its namespace is not considered, if it is not. */
  readonly consider: (policy: ImagePolicy) => Considered;
  /** The workloads in the caches, limited to what the policy may see where a plan is made. */
  readonly cluster: ClusterView;
  /** The resource as the API server has it, without managedFields. */
  readonly read: (policy: Pick<ImagePolicy, 'namespace' | 'name'>) => Promise<PolicyResource>;
  /** The changes of policies. */
  readonly feed: PolicyFeed;
  /** Why actions are not offered, or undefined. */
  readonly noActions: string | undefined;
  /** Changes the object with the caller's own rights; throws ActionRefused with what the API server answers. */
  readonly patch: (caller: Credentials, policy: Pick<ImagePolicy, 'namespace' | 'name'>, body: object) => Promise<void>;
}

/** A resource, for readers who want all of it. */
export interface PolicyResource {
  readonly [field: string]: unknown;
  readonly metadata: { readonly [field: string]: unknown; readonly namespace: string; readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The API server refused an action. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly status: 403 | 404 | 409 | 503;

  constructor(status: 403 | 404 | 409 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

export interface InstallationPorts {
  readonly receivers: () => Promise<readonly ListedReceiver[]>;
  /** When each receiver last answered with each status, in ms since 1970. */
  readonly deliveries: () => Promise<ReadonlyMap<string, ReadonlyMap<number, number>>>;
  /** What was announced of each registry, in their order. */
  readonly announcements: (registries: readonly string[]) => Promise<readonly Announcements[]>;
}
