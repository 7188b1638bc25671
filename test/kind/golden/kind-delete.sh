# 1/2 Check that npm run kind has created the cluster
kind get clusters   # ends here if the answer is not the expected one
kubectl --kubeconfig /home/user/kubeconfig --context kind-image-watcher get nodes --selector created-by=npm-run-kind --output name   # ends here if the answer is not the expected one

# 2/2 Delete the cluster image-watcher
kind delete cluster --name image-watcher --kubeconfig /home/user/kubeconfig
