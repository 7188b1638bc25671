import { statefulSet } from '../../../src/kube/targets/stateful-set.ts';
import { podTemplate, testTarget } from './conformance.ts';

testTarget(statefulSet, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: { serviceName: name, selector: { matchLabels: { app: name } }, template: podTemplate(name) },
}));
