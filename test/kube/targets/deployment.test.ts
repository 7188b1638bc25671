import { deployment } from '../../../src/kube/targets/deployment.ts';
import { testTarget } from './conformance.ts';

testTarget(deployment, (name) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: {
        containers: [
          { name: 'web', image: 'shop/web:1' },
          { name: 'proxy', image: 'proxy:1' },
        ],
      },
    },
  },
}));
