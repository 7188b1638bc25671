/** The Chinese texts about checks (rollout.checks); zh-CN.ts has those of all kinds. */
const duration = '时长以 h、m、s 书写，最多 8784h："90s"、"1h30m"。';

export const chineseChecks: Readonly<Record<string, string>> = {
  'Checks with a veto: a migration is tried before the change, errors are counted while it rolls out, and afterwards an endpoint and an analysis of Argo Rollouts say whether it works.':
    '有否决权的检查：修改之前试运行迁移，滚动更新期间统计错误，之后由一个端点和 Argo Rollouts 的一次分析说明它是否可用。',
  'What has a veto on an image: endpoints, queries of Prometheus, Jobs, AnalysisRuns of Argo Rollouts. Each gives one verdict on each image.':
    '对镜像有否决权的检查：HTTP 端点、Prometheus 查询、Job、Argo Rollouts 的 AnalysisRun。每项检查对每个镜像给出一个结论。',
  'The name of the check, in messages and in the names of Jobs and AnalysisRuns.': '检查的名称，用于消息以及 Job 和 AnalysisRun 的名称。',
  'before: before anything is changed. during: from the first change until its rollout is over. after: when what was changed has rolled out. With waves, during and after are about the first wave, and the others wait.':
    'before：在任何修改之前。during：从首次修改到其滚动更新结束。after：修改的内容滚动更新完成之后。使用 waves 时，during 和 after 针对第一批，其他批次等待。',
  'How often it is asked. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `询问的间隔。${duration}`,
  'How long every answer must be good; by default the first good answer is enough. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `每个回答必须持续良好多久；默认情况下第一个良好的回答即可。${duration}`,
  'How long a missing answer is waited for, beyond "for". Then the check has failed, for a cause that is not the image. A duration in h, m and s, at most 8784h: "90s", "1h30m".': `在 "for" 之外，等待缺失的回答多久。之后检查失败，原因不算在镜像上。${duration}`,
  'How many bad answers are forgiven. A Job is tried again by its own backoffLimit.':
    '容忍多少个不良的回答。Job 按它自己的 backoffLimit 重试。',
  'Sends a signed CloudEvent to an endpoint. The answer is a verdict: {"verdict": "pass"}, or "fail" with a "reason".':
    '向端点发送带签名的 CloudEvent。回答就是结论：{"verdict": "pass"}，或者带 "reason" 的 "fail"。',
  'The URL. Its host must be one that the operator allows (checks.hosts of the configuration).':
    'URL。其主机必须是运维人员允许的（配置中的 checks.hosts）。',
  'The Secret with the key that requests are signed with (Standard Webhooks).': '存有请求签名密钥的 Secret（Standard Webhooks）。',
  'Compares the result of a query with a range.': '把查询的结果与一个范围比较。',
  'The name of a server that the operator offers (checks.prometheus of the configuration).':
    '运维人员提供的服务器的名称（配置中的 checks.prometheus）。',
  'A query in PromQL with a number or a vector as its result. Every number of it must be in the range.':
    '结果为一个数或一个向量的 PromQL 查询。其中每个数都必须在范围之内。',
  'The least good number.': '最小的良好值。',
  'The greatest good number.': '最大的良好值。',
  'What a result without a number means: an empty one, or NaN. Wait: the check is asked again until its timeout. Pass: a good answer. Fail: a bad one.':
    '没有数值的结果（空结果或 NaN）的含义。Wait：再次询问，直到超时。Pass：良好的回答。Fail：不良的回答。',
  'Runs a Job made from a suspended CronJob. It passes when the Job is complete.':
    '运行由已暂停的 CronJob 生成的 Job。Job 完成时检查通过。',
  'The name of a CronJob in the namespace of the policy. It must be suspended, and have the annotation operator.technomad.dev/check: allow.':
    '策略所在命名空间中 CronJob 的名称。它必须已暂停，并带有注解 operator.technomad.dev/check: allow。',
  'Makes an AnalysisRun of Argo Rollouts. It passes when the run is successful. Args of the template that are named image, tag, digest and policy get the values of the image.':
    '创建 Argo Rollouts 的 AnalysisRun。运行成功时检查通过。模板中名为 image、tag、digest 和 policy 的参数会得到该镜像的值。',
  'The name of an AnalysisTemplate in the namespace of the policy. It must have the annotation operator.technomad.dev/check: allow.':
    '策略所在命名空间中 AnalysisTemplate 的名称。它必须带有注解 operator.technomad.dev/check: allow。',
  'write min, max or both: the range of good numbers': '请写 min、max 或两者：良好值的范围',
  'no number is in the range: min is greater than max': '没有数在该范围内：min 大于 max',
  'two checks have the same name: each needs its own': '两项检查同名：每项都需要自己的名称',
  'checks follow the rollout: remove watch: false': '检查跟随滚动更新：请去掉 watch: false',
  'The last 24 checks of rollout.checks, the latest first.': 'rollout.checks 的最近 24 次检查，最新的在前。',
  'The name of the check in rollout.checks.': 'rollout.checks 中检查的名称。',
  'When it is asked.': '何时询问。',
  'The id of the question, which endpoints, Jobs and AnalysisRuns see.': '问题的 id，端点、Job 和 AnalysisRun 可以看到。',
  'The tag of the image.': '镜像的标签。',
  'The digest of the image.': '镜像的摘要。',
  'Running: there is no verdict yet. Passed, Failed: the verdict. TimedOut: there was no answer in time, which counts as a failure of unknown cause.':
    'Running：还没有结论。Passed、Failed：结论。TimedOut：没有及时的回答，算作原因不明的失败。',
  'When it began.': '开始的时间。',
  'When the verdict was given.': '给出结论的时间。',
  'The number of the last question whose answer is recorded here.': '此处记录了回答的最后一个问题的编号。',
  'How many bad answers there were.': '有多少个不良的回答。',
  'The Job or the AnalysisRun that was created for the check.': '为该检查创建的 Job 或 AnalysisRun。',
  'Its name.': '其名称。',
  'Its uid: another object of this name does not count.': '其 uid：同名的其他对象不算数。',
  'The last answer, for people.': '最后的回答，供人阅读。',
};
