import { cronJob } from '../../../src/kube/targets/cron-job.ts';
import { podTemplate, testTarget } from './conformance.ts';

testTarget(cronJob, (name) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    schedule: '0 3 * * *',
    jobTemplate: { spec: { template: { spec: { ...podTemplate(name).spec, restartPolicy: 'Never' } } } },
  },
}));
