/** Recognises files that are given as the configuration by mistake. */
import { isObject, type JsonObject } from '../../core/model/untyped.ts';

/** Keys of the chart's values that no configuration has. */
const chartKeys = ['config', 'configFrom', 'envFrom', 'ingress', 'image', 'imagePullSecrets', 'serviceAccount', 'permissions'] as const;

/** The actual kind of a file, the keys that show it, and what to do. */
export interface OtherFile {
  readonly key: string;
  readonly message: string;
}

/** Recognises values of the Helm chart, kubeconfigs, resources of Kubernetes and files of docker compose; undefined for anything else. */
export function recognizeFile(value: JsonObject): OtherFile | undefined {
  const { apiVersion, kind, config, services } = value;
  if (kind === 'Config' && apiVersion === 'v1')
    return { key: 'kind', message: 'is a kubeconfig, and not the configuration: name it with the variable KUBECONFIG' };
  if (typeof apiVersion === 'string' && typeof kind === 'string') {
    const remedy =
      kind === 'ConfigMap' ? 'write what is below one of the keys of its data to a file of its own' : 'apply it with kubectl apply -f';
    return { key: 'kind', message: `is a resource of Kubernetes (${kind}), and not the configuration: ${remedy}` };
  }
  if (isObject(config))
    return {
      key: 'config',
      message:
        'is a file of values for the Helm chart: the configuration is what is below "config". Write that to a file of its own, or install the chart with these values: helm install … --values FILE',
    };
  const [ofChart] = chartKeys.filter((key) => Object.hasOwn(value, key));
  if (ofChart !== undefined)
    return {
      key: ofChart,
      message: `"${ofChart}" is a value of the Helm chart, and not a setting: move it to the file that helm install gets with --values, with the configuration below "config"`,
    };
  if (isObject(services)) return { key: 'services', message: 'is a file of docker compose, and not the configuration' };
  return undefined;
}
