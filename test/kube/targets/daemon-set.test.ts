import { daemonSet } from '../../../src/kube/targets/daemon-set.ts';
import { podTemplate, testTarget } from './conformance.ts';

testTarget(daemonSet, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name) },
}));
