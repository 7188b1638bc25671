/** The ports through which the routes use the service; `compose/api.ts` makes the real ones. */
import type { IdentifiedActivity } from '../../core/model/activity.ts';
import type { ImagePolicy, PolicyName } from '../../core/model/image-policy.ts';
import type { Origins } from '../../core/model/image-origin.ts';
import type { RegistryAliases } from '../../core/model/image-reference.ts';
import type { WorkloadRef } from '../../core/model/workload.ts';
import type { Turns } from '../../core/async/turns.ts';
import type { Announcements } from '../queue/unannounced-finds.ts';
import type { ListedProcess } from '../queue/process-list.ts';
import type { ListedReceiver } from '../queue/receiver-list.ts';
import type { Considered } from '../explain/plan-now.ts';
import type { ClusterView } from '../reconcile/ports.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Cause } from '../causes/cause.ts';
import type { RecentReport } from '../causes/recent-report.ts';
import type { ChangeOrigins } from './history-origins.ts';
import type { Access, Credentials, Question } from './access.ts';
import type { Doctor } from './doctor-api.ts';
import type { PodReport } from './pod-view.ts';
import type { EventPorts } from './events.ts';
import type { SelectedNamespaces } from './namespaces-api.ts';
import type { RecalledInstallation } from './recall.ts';
import type { RecordFeed } from './record-feed.ts';
import type { PolicyFeed, Streams } from './stream.ts';

export interface ApiPorts extends EventPorts {
  /** The optional parts that the API has: the names of the wings that add routes. */
  readonly features: readonly string[];
  /** The version of the program. */
  readonly version: string;
  readonly aliases: RegistryAliases;
  /** Why no push can be stored at present; undefined if pushes can be stored. */
  readonly refusal: () => string | undefined;
  /** What does not answer at present, so that something that is shown is old or missing. */
  readonly stale: () => readonly Stale[];
  /** What changes in Redis without a change of a policy. */
  readonly recordFeed: RecordFeed;
  /** The open streams of changes. */
  readonly streams: Streams;
  /** The data in Redis about receivers and registries. */
  readonly installation: RecalledInstallation;
  /** The policies; absent in a process without the role `work`. */
  readonly policies?: PolicyPorts | undefined;
  /** The last report of `doctor`; undefined while there is none. */
  readonly recentReport: RecentReport;
  /** The causes that wings find, of what the caller may see. */
  readonly causes: readonly FindCauses[];
  /** What is asked about callers to decide what the routes show them. */
  readonly sight: readonly Question[];
  /** The reports on the installation; absent in a process without the role `work`. */
  readonly doctor?: Doctor | undefined;
  /** The selected namespaces; absent in a process without the role `work`. */
  readonly namespaces?: SelectedNamespaces | undefined;
  /** Notes what a caller asked for, of which the object itself says nothing. */
  readonly noteActivity: (activities: readonly IdentifiedActivity[]) => void;
  readonly logger: Logger;
  /** When what takes long may go on, because what readers ask for gives way to pushes. */
  readonly turns: Turns;
}

/** What does not answer. cluster: the API server; what is shown of the cluster is as of `since`. redis: what is in Redis cannot be shown. */
export interface Stale {
  readonly what: (typeof staleParts)[number];
  /** When the data was last up to date, in ms since 1970. */
  readonly since: number;
}
export const staleParts = ['cluster', 'redis'] as const;

/** Finds the causes that a wing knows, in one namespace or in all. Throws AccessError(503) while they are not known. */
export type FindCauses = (access: Access, namespace: string | undefined) => Promise<readonly Cause[]>;

/** The policies, and the actions of callers on them. */
export interface PolicyPorts {
  /** Whether all policies are in the cache. */
  readonly areKnown: () => boolean;
  readonly all: () => Iterable<ImagePolicy>;
  readonly find: (namespace: string, name: string) => ImagePolicy | undefined;
  /** The policies that name this one in `select.proven` or `update.after`, whether they may see it or not. */
  readonly followersOf: (policy: PolicyName) => readonly PolicyName[];
  /** Returns the policy with its defaults, and why its namespace is not considered, if it is not. */
  readonly consider: (policy: ImagePolicy) => Considered;
  /** Where the image that waits for approval and the one that runs were built from, as far as that is known without a request. */
  readonly originsOf: (policy: ImagePolicy) => Origins;
  /** Where the images of its newest changes were built from, as far as that is known without a request. */
  readonly changeOriginsOf: (policy: ImagePolicy) => readonly ChangeOrigins[];
  /** The workloads in the caches. Plans are limited to the workloads that the policy may see. */
  readonly cluster: ClusterView;
  /** Reads the resource from the API server, without managedFields. */
  readonly read: (policy: ImagePolicy) => Promise<PolicyResource>;
  /** The changes of policies. */
  readonly feed: PolicyFeed;
  /** Why the API offers no actions; undefined if it offers them. */
  readonly noActions: string | undefined;
  /** Whether actions need verbs of their own: the admission policy of the chart is installed. */
  readonly hasAdmissionPolicy: boolean;
  /** Reads the pods of the newest revision of a workload, with the caller's own rights. Throws AccessError. */
  readonly readPods: (caller: Credentials, workload: WorkloadRef) => Promise<readonly PodReport[]>;
  /** Changes the object with the caller's own rights; throws ActionRefused with the API server's answer. */
  readonly patch: (caller: Credentials, object: PatchedObject, body: object) => Promise<void>;
}

/** An object that a caller changes: an ImagePolicy unless `of` is another kind of the API group. */
export interface PatchedObject extends Pick<ImagePolicy, 'namespace' | 'name'> {
  readonly of?: { readonly kind: string; readonly plural: string };
}

/** A resource with all its fields. */
export interface PolicyResource {
  readonly [field: string]: unknown;
  readonly metadata: { readonly [field: string]: unknown; readonly namespace: string; readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** Thrown if the API server refused an action. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
  readonly status: 403 | 404 | 409 | 503;

  constructor(status: 403 | 404 | 409 | 503, message: string) {
    super(message);
    this.status = status;
  }
}

/** What runs: the processes of the service, and the versions of Kubernetes and Redis as far as they say them. */
export interface RunningService {
  readonly processes: readonly ListedProcess[];
  readonly kubernetes?: string;
  readonly redis?: string;
}

export interface InstallationPorts {
  readonly receivers: () => Promise<readonly ListedReceiver[]>;
  /** When each receiver last answered with each status, in ms since 1970. */
  readonly deliveries: () => Promise<ReadonlyMap<string, ReadonlyMap<number, number>>>;
  /** The running processes, and the versions of what they use. Rejects if Redis does not answer. */
  readonly running: () => Promise<RunningService>;
  /** What webhooks have announced of each registry, in the order of the registries. */
  readonly announcements: (registries: readonly string[]) => Promise<readonly Announcements[]>;
}
