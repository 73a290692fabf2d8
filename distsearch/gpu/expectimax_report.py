class Multilevel: pass
class Naive: pass
