// Stands in for NVIDIA's driver (libcuda.so.1) on a machine with one GPU, as far as counting goes.
extern "C" {

int cuInit(unsigned) {
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
}
