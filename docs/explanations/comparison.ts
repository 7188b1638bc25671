/** What docs/comparison.md says about the other tools: facts from their own documentation and source, at the version that was read. */

/** The other tools, in the order of their columns. */
export const otherTools = {
  keel: '[Keel](https://keel.sh/docs/)',
  argocdImageUpdater: '[Argo CD Image Updater](https://argocd-image-updater.readthedocs.io/en/stable/)',
  flux: '[Flux](https://fluxcd.io/flux/guides/image-update/), image automation and [Operator](https://fluxoperator.dev/)',
  kargo: '[Kargo](https://docs.kargo.io/)',
} as const;
type OtherTool = keyof typeof otherTools;

/** A line of the table: what is compared, and the cell of each other tool. A cell that is missing was not found in the documentation. */
export type ComparedRow = { readonly topic: string } & { readonly [tool in OtherTool]?: string };

const keel = 'https://github.com/keel-hq/keel/blob/0.22.1';
const updater = 'https://github.com/argoproj-labs/argocd-image-updater/blob/v1.3.0';
const notification = 'https://github.com/fluxcd/notification-controller/blob/v1.9.3';
const helm = 'https://github.com/fluxcd/helm-controller/blob/v1.6.3';
const operator = 'https://github.com/controlplaneio-fluxcd/flux-operator/blob/v0.58.1';
const reflector = 'https://fluxcd.io/flux/components/image';
const fluxGuide = 'https://fluxcd.io/flux/guides/image-update';
const argoCd = 'https://argo-cd.readthedocs.io/en/stable';
const kargo = 'https://github.com/akuity/kargo/blob/v1.11.2/docs/docs';
const kargoGuides = `${kargo}/50-user-guide/20-how-to-guides`;
const kargoReference = `${kargo}/50-user-guide/60-reference-docs`;

/** The documentation in which nothing was found, for the cells that are missing. */
export const documentation: Readonly<Record<OtherTool, string>> = {
  keel: `${keel}/ARCHITECTURE.md`,
  argocdImageUpdater: 'https://github.com/argoproj-labs/argocd-image-updater/tree/v1.3.0/docs/',
  flux: 'https://fluxcd.io/flux/',
  kargo: 'https://github.com/akuity/kargo/tree/v1.11.2/docs/docs/',
};

export const comparedRows = {
  version: {
    topic: 'version that was read',
    keel: '[0.22.1](https://github.com/keel-hq/keel/releases/tag/0.22.1), 2026-08-14',
    argocdImageUpdater: '[1.3.0](https://github.com/argoproj-labs/argocd-image-updater/releases/tag/v1.3.0), 2026-08-12',
    flux:
      '[2.9.4](https://github.com/fluxcd/flux2/releases/tag/v2.9.4), 2026-08-07; ' +
      'Operator [0.58.1](https://github.com/controlplaneio-fluxcd/flux-operator/releases/tag/v0.58.1), 2026-08-19',
    kargo: '[1.11.2](https://github.com/akuity/kargo/releases/tag/v1.11.2), 2026-08-17',
  },
  changes: {
    topic: 'changes',
    keel: `[Deployment, StatefulSet, DaemonSet, CronJob, and Helm releases](${keel}/ARCHITECTURE.md#1-providers)`,
    argocdImageUpdater: `[parameters of an Argo CD Application, or Git](${updater}/docs/basics/update-methods.md)`,
    flux: `[Git](${fluxGuide}/); with the Operator also [resources in the cluster, without Git](${operator}/docs/guides/resourcesets/rset-image-automation.md)`,
    kargo: `[Git, Argo CD Applications and more, in steps](${kargoReference}/30-promotion-steps/index.md)`,
  },
  git: {
    topic: 'the image is in Git, with author and history',
    keel: `no: it [patches the resource in the cluster](${keel}/ARCHITECTURE.md#data-flow)`,
    argocdImageUpdater: `yes, with [write-back to Git](${updater}/docs/basics/update-methods.md#method-git), also as a [pull request](${updater}/docs/basics/update-methods.md#method-git-pull-request)`,
    flux: `[yes](${fluxGuide}/), also [to another branch](${fluxGuide}/#push-updates-to-a-different-branch) for a pull request`,
    kargo: `[yes](${kargoReference}/30-promotion-steps/git-commit.md), also as a [pull request](${kargoReference}/30-promotion-steps/git-open-pr.md)`,
  },
  alone: {
    topic: 'works without a GitOps tool',
    keel: `[yes](${keel}/readme.md)`,
    argocdImageUpdater: `[no](${updater}/docs/index.md#limitations): Argo CD manages the applications`,
    flux: `it [is one](https://fluxcd.io/flux/concepts/)`,
    kargo: `an agent such as Argo CD [deploys](${kargo}/50-user-guide/10-core-concepts/index.md)`,
  },
  configuration: {
    topic: 'is configured by',
    keel: `[annotations](${keel}/ARCHITECTURE.md#key-annotations) or labels of workloads, Helm values`,
    argocdImageUpdater: `[\`ImageUpdater\`](${updater}/docs/configuration/applications.md)`,
    flux: `[\`ImageRepository\`, \`ImagePolicy\`, \`ImageUpdateAutomation\`](${reflector}/)`,
    kargo: `[\`Project\`](${kargoGuides}/20-working-with-projects.md), [\`Warehouse\`](${kargoGuides}/30-working-with-warehouses.md), [\`Stage\`](${kargoGuides}/40-working-with-stages.md)`,
  },
  webhooks: {
    topic: 'accepts webhooks of',
    keel: `[Azure, Docker Hub, GitHub, Harbor, JFrog, Quay, Distribution, its own format](https://github.com/keel-hq/keel/tree/0.22.1/pkg/http), [Google Pub/Sub](https://github.com/keel-hq/keel/tree/0.22.1/trigger/pubsub)`,
    argocdImageUpdater: `[Docker Hub, GHCR, Harbor, Quay, Aliyun ACR, Azure ACR, ECR (EventBridge)](${updater}/docs/configuration/webhook.md)`,
    flux: `[Harbor, Docker Hub, Quay, Nexus, Azure, Google, CDEvents, Git hosts, and any sender with HMAC or OIDC](${notification}/docs/spec/v1/receivers.md#supported-receiver-types)`,
    kargo: `[Artifactory, Azure, Docker Hub, GHCR, Harbor, Quay, Gitea, Git hosts, any sender](https://github.com/akuity/kargo/tree/v1.11.2/docs/docs/50-user-guide/60-reference-docs/80-webhook-receivers)`,
  },
  polls: {
    topic: 'polls registries',
    keel: `with [trigger: poll](${keel}/ARCHITECTURE.md#key-annotations), every [1m](${keel}/ARCHITECTURE.md#environment-variables)`,
    argocdImageUpdater: `every [2m](${updater}/docs/install/cmd/run.md)`,
    flux: `each [\`ImageRepository\`](${reflector}/imagerepositories/) by its interval`,
    kargo: `each [\`Warehouse\`](${kargoGuides}/30-working-with-warehouses.md) by its interval`,
  },
  killed: {
    topic: 'a push that was accepted before the process is killed',
    keel: `is [in memory](${keel}/provider/kubernetes/kubernetes.go); a later poll finds it, where there is one`,
    argocdImageUpdater: `is found by the next [scan](${updater}/docs/install/cmd/run.md)`,
    flux: `is [an annotation](${notification}/internal/server/receiver_handlers.go) of the resource to reconcile, which the API server keeps`,
    kargo: `is [an annotation](https://github.com/akuity/kargo/blob/v1.11.2/pkg/webhook/external/refresh.go) of the \`Warehouse\`, which the API server keeps`,
  },
  selection: {
    topic: 'selects by',
    keel: `[major, minor, patch, all; force, glob, regexp](${keel}/ARCHITECTURE.md#3-policies)`,
    argocdImageUpdater: `[\`semver\`, \`newest-build\`, \`digest\`, \`alphabetical\`](${updater}/docs/basics/update-strategies.md)`,
    flux: `[\`semver\`, \`alphabetical\`, \`numerical\`](${reflector}/imagepolicies/#policy), [digests](${reflector}/imagepolicies/#digest-reflection)`,
    kargo: `[SemVer, Lexical, Digest, NewestBuild](${kargoGuides}/30-working-with-warehouses.md#image-selection-strategies)`,
  },
  charts: {
    topic: 'updates Helm charts',
    flux: `by [SemVer ranges](${helm}/docs/spec/v2/helmreleases.md#chart-template), of Helm and OCI repositories that it polls`,
    kargo: `[chart subscriptions](${kargoGuides}/30-working-with-warehouses.md) of a \`Warehouse\`, which promotion steps write`,
  },
  holds: {
    topic: 'what can hold a change back',
    keel: `[a number of approvals](${keel}/ARCHITECTURE.md#5-approvals), in chat or in its dashboard`,
    argocdImageUpdater: `a [pull request](${updater}/docs/basics/update-methods.md#method-git-pull-request), a manual sync, Argo CD's [sync windows](${argoCd}/user-guide/sync_windows/)`,
    flux: `a pull request from [another branch](${fluxGuide}/#push-updates-to-a-different-branch); [time windows](${operator}/docs/guides/resourcesets/rset-time-based-delivery.md) of the Operator`,
    kargo: `[manual promotion](${kargoGuides}/40-working-with-stages.md#promoting-freight-to-a-stage), [verification and soak times](${kargoGuides}/60-verification.md) of earlier stages, [pull requests](${kargoReference}/30-promotion-steps/git-wait-for-pr.md)`,
  },
  failures: {
    topic: 'a rollout that fails',
    argocdImageUpdater: `Argo CD shows the [health](${argoCd}/operator-manual/health/) of the Application`,
    flux: `a Helm release is [rolled back](${helm}/docs/spec/v2/helmreleases.md#upgrade-remediation) (\`remediation\`); a Kustomization reports failed [health checks](https://fluxcd.io/flux/components/kustomize/kustomizations/#health-checks)`,
    kargo: `fails the [verification](${kargoGuides}/60-verification.md) of its stage; [auto-rollback](${kargoGuides}/20-working-with-projects.md#auto-rollback) in the commercial edition (beta)`,
  },
  signatures: {
    topic: 'signatures of the images that it deploys',
    argocdImageUpdater: `[cosign](${updater}/docs/configuration/images.md#image-signature-verification) by key, since 1.3`,
    flux: `those of [OCI artifacts and Helm charts](https://fluxcd.io/flux/cheatsheets/oci-artifacts/#signing-and-verification), with cosign or Notation, by key or keyless`,
  },
  vulnerabilities: { topic: 'known vulnerabilities decide when an image is applied' },
  bases: { topic: 'updates what is built on a base image' },
  environments: {
    topic: 'promotion through environments',
    flux: `by [folders, branches or repositories](https://fluxcd.io/flux/guides/repository-structure/#delivery-management)`,
    kargo: `[its main purpose](${kargo}/50-user-guide/10-core-concepts/index.md)`,
  },
  clusters: {
    topic: 'several clusters',
    argocdImageUpdater: `those that [Argo CD](${argoCd}/) deploys to`,
    flux: `also [remote ones](${helm}/docs/spec/v2/helmreleases.md#kubeconfig-remote-clusters), from one installation`,
    kargo: `yes, with [controllers in each](${kargo}/40-operator-guide/30-architecture/index.md)`,
  },
  notifications: {
    topic: 'notifications',
    keel: `[Slack, Teams, Discord, Mattermost, HipChat, mail, webhook](https://github.com/keel-hq/keel/tree/0.22.1/extension/notification), and what [Shoutrrr](${keel}/docs/shoutrrr-notifications.md) reaches (Telegram, Matrix, PagerDuty and many more)`,
    argocdImageUpdater: `those of [Argo CD](${argoCd}/operator-manual/notifications/)`,
    flux: `[about 30 kinds](${notification}/docs/spec/v1beta3/providers.md#type): chats, paging, queues, commit statuses, comments on pull requests`,
    kargo: `[channels and event routers](${kargoReference}/90-events/100-notifications/00-overview.md) in the commercial edition (beta)`,
  },
  dashboard: {
    topic: 'dashboard',
    keel: `[yes](${keel}/ui/README.md)`,
    argocdImageUpdater: `that of [Argo CD](${argoCd}/)`,
    flux: `[web UI](https://fluxoperator.dev/web-ui/) of the Operator, with [actions](${operator}/docs/web/web-actions.md)`,
    kargo: `[yes](${kargo}/20-quickstart/index.md)`,
  },
  needs: {
    topic: 'needs',
    keel: `[nothing else](${keel}/readme.md); keeps approvals in [SQLite](${keel}/ARCHITECTURE.md#directory-structure)`,
    argocdImageUpdater: `[Argo CD](${updater}/docs/index.md#limitations)`,
    flux: `[Git](${fluxGuide}/), or an OCI registry with the [Operator](${operator}/docs/guides/resourcesets/rset-image-automation.md)`,
    kargo: `[cert-manager by default](${kargo}/40-operator-guide/10-basic-installation.md#prerequisites); Argo CD and Argo Rollouts are recommended`,
  },
} as const satisfies Readonly<Record<string, ComparedRow>>;
