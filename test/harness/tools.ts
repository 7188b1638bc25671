/** A program that the tests need: how it is called, recognised, and what a person can do when it cannot be had. */
export type Tool = {
  id: string;
  /** The names that it has on various systems. */
  names: string[];
  /** What it is asked for its version with: `--version` unless given. */
  versionArguments?: string[];
  /** Finds the version in what it prints then. */
  versionPattern: RegExp;
  oldest: Version;
  advice: string;
};

export type Version = { major: number; minor: number };

export const kubernetesVersion = 'v1.36.3';
export const etcdVersion = 'v3.6.16';
export const distributionVersion = 'v3.1.2';
// These are built with the versions of modules that Kubernetes requires, so they must not need newer ones.
export const helmVersion = 'v4.2.4';
export const kustomizeVersion = 'v5.8.1';
export const craneVersion = 'v0.22.1';
/** The module of Prometheus 3.10: versions of modules are v0. */
export const prometheusVersion = 'v0.310.0';
export const s3Version = 'v1.8.0';

const kubeAdvice = 'install Go 1.24 or newer, or set KUBEBUILDER_ASSETS to a folder with etcd, kube-apiserver and kube-controller-manager';

/** Etcd, where the API server keeps its objects. */
export const etcd: Tool = {
  id: 'etcd',
  names: ['etcd'],
  versionPattern: /^etcd Version: (\d+)\.(\d+)\.\d+/m,
  oldest: { major: 3, minor: 4 },
  advice: kubeAdvice,
};

/** The Kubernetes API server. */
export const kubeApiServer: Tool = {
  id: 'kube-apiserver',
  names: ['kube-apiserver'],
  versionPattern: /^Kubernetes v(\d+)\.(\d+)\.\d+/m,
  oldest: { major: 1, minor: 32 },
  advice: kubeAdvice,
};

/** The controllers that roll workloads out. */
export const kubeControllerManager: Tool = { ...kubeApiServer, id: 'kube-controller-manager', names: ['kube-controller-manager'] };

/** The command line of Kubernetes, as the pages use it. */
export const kubectl: Tool = {
  ...kubeApiServer,
  id: 'kubectl',
  names: ['kubectl'],
  versionArguments: ['version', '--client'],
  versionPattern: /^Client Version: v(\d+)\.(\d+)\.\d+/m,
  advice: 'install kubectl 1.32 or newer so that it is on the PATH, or install Go 1.24 or newer',
};

/** Redis, or its fork. */
export const redisServer: Tool = {
  id: 'redis-server',
  names: ['redis-server', 'valkey-server'],
  versionPattern: /(?:Redis|Valkey) server v=(\d+)\.(\d+)\.\d+/,
  oldest: { major: 6, minor: 2 },
  advice:
    'install Redis 6.2 or newer (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis) so that redis-server is on the PATH',
};

/** The reference registry of the Distribution project. */
export const registry: Tool = {
  id: 'registry',
  names: ['docker-registry', 'registry'],
  versionPattern: /(?:docker|distribution)\/distribution\S* v?(\d+)\.(\d+)\.\d+/,
  oldest: { major: 2, minor: 7 },
  advice:
    'install the Distribution registry (Debian and Ubuntu: apt-get install docker-registry) so that registry or docker-registry is on the PATH, or install Go 1.24 or newer',
};

/** Helm, which installs the chart. */
export const helm: Tool = {
  id: 'helm',
  names: ['helm'],
  versionArguments: ['version', '--short'],
  versionPattern: /^v(\d+)\.(\d+)/m,
  oldest: { major: 3, minor: 18 },
  advice: 'install Helm 3.18 or newer so that helm is on the PATH, or install Go 1.24 or newer',
};

/** Kustomize, which builds the overlays of the manifests. */
export const kustomize: Tool = {
  id: 'kustomize',
  names: ['kustomize'],
  versionArguments: ['version'],
  versionPattern: /v(\d+)\.(\d+)\.\d+/,
  oldest: { major: 5, minor: 0 },
  advice: 'install Kustomize 5.0 or newer so that kustomize is on the PATH, or install Go 1.24 or newer',
};

/** Tests the rules of alerts; of Prometheus. */
export const promtool: Tool = {
  id: 'promtool',
  names: ['promtool'],
  versionPattern: /^promtool, version (\d+)\.(\d+)/m,
  oldest: { major: 2, minor: 40 },
  advice:
    'install promtool (https://prometheus.io/download/; Debian and Ubuntu: apt-get install prometheus) so that it is on the PATH, or install Go 1.24 or newer',
};

/** Reads and checks images in registries; of go-containerregistry. */
export const crane: Tool = {
  id: 'crane',
  names: ['crane'],
  versionArguments: ['version'],
  versionPattern: /v?(\d+)\.(\d+)\.\d+/,
  oldest: { major: 0, minor: 15 },
  advice: 'install Go 1.24 or newer, or crane (https://github.com/google/go-containerregistry) so that it is on the PATH',
};

/** A server with the API of S3: the Versity S3 Gateway, which keeps objects in files. */
export const s3Server: Tool = {
  id: 'versitygw',
  names: ['versitygw'],
  versionPattern: /^Version\s*: v?(\d+)\.(\d+)\.\d+/m,
  oldest: { major: 1, minor: 2 },
  advice: 'install Go 1.24 or newer, or versitygw (https://github.com/versity/versitygw) so that it is on the PATH',
};

/** Copies images between registries and folders. */
export const skopeo: Tool = {
  id: 'skopeo',
  names: ['skopeo'],
  versionPattern: /skopeo version (\d+)\.(\d+)\.\d+/,
  oldest: { major: 1, minor: 4 },
  advice: 'install skopeo (Debian and Ubuntu: apt-get install skopeo; macOS: brew install skopeo) so that it is on the PATH',
};

/** Examines shell scripts. */
export const shellcheck: Tool = {
  id: 'shellcheck',
  names: ['shellcheck'],
  versionPattern: /version: (\d+)\.(\d+)\.\d+/,
  oldest: { major: 0, minor: 8 },
  advice: 'install ShellCheck (Debian and Ubuntu: apt-get install shellcheck; macOS: brew install shellcheck) so that it is on the PATH',
};

/** A browser, for the dashboard. */
export const chromium: Tool = {
  id: 'chromium',
  names: ['chromium-headless-shell', 'chromium', 'google-chrome', 'chromium-browser'],
  versionPattern: /(?:Chromium|Chrome\S*(?: for Testing)?) (\d+)\.(\d+)/,
  oldest: { major: 123, minor: 0 },
  advice: 'install Chromium 123 or newer (Debian: apt-get install chromium-headless-shell) so that it is on the PATH',
};
