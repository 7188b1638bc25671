import { deployment } from '../../../src/kube/targets/deployment.ts';
import { podTemplate, testTarget } from './conformance.ts';

testTarget(deployment, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: { selector: { matchLabels: { app: name } }, template: podTemplate(name) },
}));
