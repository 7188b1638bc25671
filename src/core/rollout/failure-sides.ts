/**
 * Which side a reason of a pod speaks against, so that an image is blamed only for what it did. Every reason that Kubernetes states for a pod that does not become
 * ready is a row; where the reason alone does not decide, its message does. A reason that is not in the table speaks against the cluster.
 *
 * image: what the registry holds under this digest cannot run · registry: the node could not get it · cluster: the node, the scheduler or a controller ·
 * configuration: what the workload, its namespace or an admission rule says · unknown: nobody reported anything.
 */
import type { Side } from '../model/failure-side.ts';

/** Where a reason for a failure is stated. */
type Place = 'waiting' | 'terminated' | 'pod' | 'condition' | 'event';

interface Row {
  readonly against: Side;
  readonly at: Place;
  /** The file of Kubernetes, or of the runtime, that names the reason. */
  readonly source: string;
  /** The first message that matches decides. */
  readonly unless?: readonly (readonly [message: RegExp, against: Side])[];
}

const kubelet = 'kubernetes/pkg/kubelet';
const api = 'k8s.io/api/core/v1/types.go';

const throughNode = [
  [
    /no space left on device|disk quota exceeded|pull QPS exceeded|context canceled|cgroup|too many open files|resource temporarily unavailable/i,
    'cluster',
  ],
] as const;

/** What runtimes and registries say about a pull; containerd and CRI-O pass on the words of the registry (distribution-spec, "Error Codes"). */
const pull = [
  ...throughNode,
  [/\b429\b|too ?many ?requests|rate ?limit|quota/i, 'registry'],
  [
    /status(?: code)?:?(?: from \S+ request to \S+:)? 5\d\d\b|\b5\d\d (?:internal server|bad gateway|service unavailable|gateway time)/i,
    'registry',
  ],
  [
    /time-?d? ?out|deadline exceeded|connection (?:refused|reset)|no such host|no route to host|unreachable|server misbehaving|\bEOF\b/i,
    'registry',
  ],
  [/\b(?:401|403)\b|unauthori[sz]ed|forbidden|denied|authentication required|no basic auth/i, 'configuration'],
  [/x509|certificate|HTTP response to HTTPS client/i, 'configuration'],
  [
    /not ?found|manifest unknown|name unknown|no match(?:ing manifest)? for|no matching manifest|does not match the specified platform/i,
    'image',
  ],
  [
    /unsupported (?:media|manifest)|invalid (?:reference|tar header|manifest)|failed to (?:unpack|extract)|mediatype|exec format error/i,
    'image',
  ],
] as const satisfies Row['unless'];

/** What runc, crun and containerd say when a container cannot start. */
const start = [
  ...throughNode,
  [/deadline exceeded|ttrpc|connection (?:refused|reset)/i, 'cluster'],
  [/error mounting|mount through procfd|nvidia|device/i, 'configuration'],
] as const satisfies Row['unless'];

const create = [
  [
    /no command specified|image will run as root|image has (?:a |an )?(?:non-numeric|invalid) user|unable to find user|exec format error/i,
    'image',
  ],
] as const satisfies Row['unless'];

/** The reasons for which pods fail, in the order in which a pod meets them, and which side each speaks against. */
export const failureSides = {
  // Created: ReplicaSets and other controllers, and what admits their pods.
  FailedCreate: {
    against: 'cluster',
    at: 'condition',
    source: 'kubernetes/pkg/controller/replicaset/replica_set_utils.go',
    unless: [[/\bdenied (?:the )?request\b/, 'configuration']],
  },
  FailedDelete: { against: 'cluster', at: 'condition', source: 'kubernetes/pkg/controller/replicaset/replica_set_utils.go' },

  // Scheduled.
  Unschedulable: { against: 'cluster', at: 'condition', source: api },
  SchedulingGated: { against: 'cluster', at: 'condition', source: api },
  SchedulerError: { against: 'cluster', at: 'condition', source: api },
  FailedScheduling: { against: 'cluster', at: 'event', source: 'kubernetes/pkg/scheduler/schedule_one.go' },

  // Admitted by the kubelet: the pod is Failed with this reason, and its controller makes another.
  NodeAffinity: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  OutOfcpu: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  OutOfmemory: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  'OutOfephemeral-storage': { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  OutOfpods: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  UnexpectedAdmissionError: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  UnexpectedPredicateFailureType: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  UnknownReason: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  InvalidNodeInfo: { against: 'cluster', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  PodOSNotSupported: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  PodOSSelectorNodeLabelDoesNotMatch: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  InitContainerRestartPolicyForbidden: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  SupplementalGroupsPolicyNotSupported: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/predicate.go` },
  PodLevelResourcesNotSupported: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/handlers.go` },
  PodFeatureUnsupported: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/handlers.go` },
  AppArmor: { against: 'configuration', at: 'pod', source: `${kubelet}/lifecycle/handlers.go` },
  SysctlForbidden: { against: 'configuration', at: 'pod', source: `${kubelet}/sysctl/allowlist.go` },
  TopologyAffinityError: { against: 'cluster', at: 'pod', source: `${kubelet}/cm/topologymanager/topology_manager.go` },

  // Taken away.
  Evicted: { against: 'cluster', at: 'pod', source: `${kubelet}/eviction/helpers.go` },
  Preempting: { against: 'cluster', at: 'pod', source: `${kubelet}/preemption/preemption.go` },
  NodeShutdown: { against: 'cluster', at: 'pod', source: `${kubelet}/nodeshutdown/nodeshutdown_manager.go` },
  Terminated: { against: 'cluster', at: 'pod', source: `${kubelet}/nodeshutdown/nodeshutdown_manager.go` },
  NodeLost: { against: 'cluster', at: 'pod', source: 'kubernetes/pkg/util/node/node.go' },
  DeadlineExceeded: { against: 'configuration', at: 'pod', source: `${kubelet}/active_deadline.go` },
  PreemptionByScheduler: { against: 'cluster', at: 'condition', source: api },
  TerminationByKubelet: { against: 'cluster', at: 'condition', source: api },
  DeletionByTaintManager: { against: 'cluster', at: 'condition', source: 'kubernetes/pkg/controller/tainteviction/taint_eviction.go' },
  DeletionByPodGC: { against: 'cluster', at: 'condition', source: 'kubernetes/pkg/controller/podgc/gc_controller.go' },
  EvictionByEvictionAPI: { against: 'cluster', at: 'condition', source: 'kubernetes/pkg/registry/core/pod/storage/eviction.go' },

  // Prepared by its node: its containers are waiting, and only Events say for what.
  ContainerCreating: { against: 'cluster', at: 'waiting', source: `${kubelet}/kubelet_pods.go` },
  PodInitializing: { against: 'cluster', at: 'waiting', source: `${kubelet}/kubelet_pods.go` },
  FailedMount: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  FailedAttachVolume: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  FailedMapVolume: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  FailedCreatePodSandBox: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  FailedPodSandBoxStatus: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  NetworkNotReady: { against: 'cluster', at: 'event', source: `${kubelet}/events/event.go` },
  CreatePodSandboxError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },
  ConfigPodSandboxError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },
  KillPodSandboxError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },

  // Pulled.
  ErrImagePull: { against: 'registry', at: 'waiting', source: `${kubelet}/images/types.go`, unless: pull },
  ImagePullBackOff: { against: 'registry', at: 'waiting', source: `${kubelet}/images/types.go`, unless: pull },
  RegistryUnavailable: { against: 'registry', at: 'waiting', source: 'k8s.io/cri-api/pkg/errors/errors.go' },
  // A signature may be pushed after the image.
  SignatureValidationFailed: { against: 'configuration', at: 'waiting', source: 'k8s.io/cri-api/pkg/errors/errors.go' },
  ImageVolumeMountFailed: { against: 'cluster', at: 'waiting', source: 'k8s.io/cri-api/pkg/errors/errors.go' },
  RROUnsupported: { against: 'cluster', at: 'waiting', source: 'k8s.io/cri-api/pkg/errors/errors.go' },
  ErrImageNeverPull: { against: 'configuration', at: 'waiting', source: `${kubelet}/images/types.go` },
  ImageInspectError: { against: 'cluster', at: 'waiting', source: `${kubelet}/images/types.go` },
  InvalidImageName: { against: 'image', at: 'waiting', source: `${kubelet}/images/types.go` },

  // Created and started by the runtime.
  CreateContainerConfigError: {
    against: 'configuration',
    at: 'waiting',
    source: `${kubelet}/kuberuntime/kuberuntime_container.go`,
    unless: create,
  },
  CreateContainerError: { against: 'cluster', at: 'waiting', source: `${kubelet}/kuberuntime/kuberuntime_container.go`, unless: create },
  PreCreateHookError: { against: 'cluster', at: 'waiting', source: `${kubelet}/kuberuntime/kuberuntime_container.go` },
  PreStartHookError: { against: 'cluster', at: 'waiting', source: `${kubelet}/kuberuntime/kuberuntime_container.go` },
  // The hook is a command in the image, or a request to it.
  PostStartHookError: { against: 'image', at: 'waiting', source: `${kubelet}/kuberuntime/kuberuntime_container.go` },
  RunContainerError: { against: 'image', at: 'waiting', source: `${kubelet}/container/sync_result.go`, unless: start },
  KillContainerError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },
  RemoveContainerError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },
  ResizePodInPlaceError: { against: 'cluster', at: 'waiting', source: `${kubelet}/container/sync_result.go` },

  // Running, and ended.
  CrashLoopBackOff: { against: 'image', at: 'waiting', source: `${kubelet}/container/sync_result.go` },
  Error: { against: 'image', at: 'terminated', source: 'containerd/internal/cri/server/container_start.go' },
  Completed: { against: 'image', at: 'terminated', source: 'containerd/internal/cri/server/events.go' },
  OOMKilled: { against: 'image', at: 'terminated', source: 'containerd/internal/cri/server/events.go' },
  StartError: { against: 'image', at: 'terminated', source: 'containerd/internal/cri/server/container_start.go', unless: start },
  ContainerCannotRun: { against: 'image', at: 'terminated', source: 'cri-dockerd/core/container_status.go', unless: start },
  RestartingAllContainers: { against: 'configuration', at: 'terminated', source: `${kubelet}/kubelet_pods.go` },
  ContainerStatusUnknown: { against: 'cluster', at: 'terminated', source: `${kubelet}/container/runtime.go` },
  // The node was restarted under the container.
  Unknown: { against: 'cluster', at: 'terminated', source: 'containerd/internal/cri/server/restart.go' },
} as const satisfies Readonly<Record<string, Row>>;

const rows: Readonly<Record<string, Row>> = failureSides;

/** Which side a reason speaks against, with its message. */
export function sideOf(reason: string, message = ''): Side {
  const row = Object.hasOwn(rows, reason) ? rows[reason] : undefined;
  return row?.unless?.find(([pattern]) => pattern.test(message))?.[1] ?? row?.against ?? 'cluster';
}
